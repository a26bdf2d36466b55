#include "transform/problem.h"

#include "problem/error.h"

namespace halidegym {

namespace {

// The largest prime factor above 7, or 1.
int foreign_factor(int n) {
    for (const int prime : {2, 3, 5, 7}) {
        while (n % prime == 0) {
            n /= prime;
        }
    }
    int largest = 1;
    for (int factor = 11; n > 1; factor += 2) {
        for (; n % factor == 0; n /= factor) {
            largest = factor;
        }
    }
    return largest;
}

std::string nearest_sizes(int n) {
    int below = n, above = n;
    while (foreign_factor(below) > 1) {
        below--;
    }
    while (above <= max_transform_size && foreign_factor(above) > 1) {
        above++;
    }
    return std::to_string(below) + (above <= max_transform_size ? " or " + std::to_string(above) : "");
}

}  // namespace

TransformProblem whole_transform(int n) {
    const std::string name = "a transform of size " + std::to_string(n);
    if (n < 2 || n > max_transform_size) {
        throw InvalidParameter(name + " is out of range; give a size from 2 to " + std::to_string(max_transform_size));
    }
    if (const int factor = foreign_factor(n); factor > 1) {
        throw InvalidParameter(name + " has the prime factor " + std::to_string(factor) +
                               ", but only 2, 3, 5 and 7 are possible; the nearest sizes are " + nearest_sizes(n));
    }
    return {.n = n};
}

std::string to_string(const TransformProblem &problem) {
    std::string text = "n=" + std::to_string(problem.n) + " is=" + std::to_string(problem.is) +
                       " os=" + std::to_string(problem.os) + " v=" + std::to_string(problem.v);
    if (problem.v > 1) {
        text += " iv=" + std::to_string(problem.iv) + " ov=" + std::to_string(problem.ov);
    }
    if (problem.scaled) {
        text += " scaled ws=" + std::to_string(problem.ws) + " wv=" + std::to_string(problem.wv);
    }
    return text + (problem.in_place ? " in place" : "") + (problem.below_loop ? " below a loop" : "");
}

AccessModes access_modes(const TransformProblem &problem, int lanes) {
    const bool alone = lanes == 1;
    const auto twiddle = [&] {
        if (!problem.scaled) {
            return TwiddleMode::None;
        }
        if (alone || problem.wv == 1) {
            return TwiddleMode::Contiguous;
        }
        return problem.wv == 0 ? TwiddleMode::Broadcast : TwiddleMode::OneByOne;
    };
    const auto store = [&] {
        if (alone || problem.ov == 1) {
            return StoreMode::Contiguous;
        }
        return problem.os == 1 ? StoreMode::Transposed : StoreMode::OneByOne;
    };
    return {.load = alone || problem.iv == 1 ? LoadMode::Contiguous : LoadMode::OneByOne,
            .store = store(),
            .twiddle = twiddle()};
}

}  // namespace halidegym
