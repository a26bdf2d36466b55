// Every kernel against a direct sum, with random numbers, twiddles and strides.

#include <cmath>
#include <complex>
#include <cstdio>
#include <random>
#include <vector>

#include "transform/kernels.h"
#include "transform/problem.h"

using namespace halidegym;

namespace {

using Number = std::complex<double>;
using Exact = std::complex<long double>;

std::vector<Number> random_numbers(size_t count, std::mt19937 &generator) {
    std::normal_distribution<double> normal;
    std::vector<Number> numbers(count);
    for (Number &number : numbers) {
        number = {normal(generator), normal(generator)};
    }
    return numbers;
}

const double *parts(const std::vector<Number> &numbers) {
    return reinterpret_cast<const double *>(numbers.data());
}

double *parts(std::vector<Number> &numbers) {
    return reinterpret_cast<double *>(numbers.data());
}

// A problem that has these modes, for several groups.
TransformProblem problem_with(int size, int lanes, const AccessModes &modes) {
    TransformProblem problem{.n = size, .v = 3 * lanes, .scaled = modes.twiddle != TwiddleMode::None};
    const auto set = [&](int &across, int &along, bool side_by_side, int spread) {
        across = side_by_side ? 1 : spread;
        along = side_by_side ? problem.v + 1 : spread * problem.v + 2;
    };
    set(problem.iv, problem.is, modes.load == LoadMode::Contiguous, 3);
    set(problem.ov, problem.os, modes.store == StoreMode::Contiguous, 2);
    set(problem.wv, problem.ws, modes.twiddle == TwiddleMode::Contiguous, 4);
    if (modes.store == StoreMode::Transposed) {
        problem.os = 1;
        problem.ov = size + 1;
    }
    if (modes.twiddle == TwiddleMode::Broadcast) {
        problem.wv = 0;
    }
    return problem;
}

size_t place(int c, int across, int j, int along) {
    return static_cast<size_t>(c) * static_cast<size_t>(across) + static_cast<size_t>(j) * static_cast<size_t>(along);
}

size_t reach(const TransformProblem &p, int across, int along) {
    return place(p.v - 1, across, p.n - 1, along) + 1;
}

// Relative error, in the norm of all columns; infinite if anything between the outputs was touched.
double error_of(int lanes, const AccessModes &modes, const TransformProblem &p, bool first_is_one) {
    std::mt19937 generator(static_cast<unsigned>(p.n * 8 + lanes));
    const std::vector<Number> in = random_numbers(reach(p, p.iv, p.is), generator);
    std::vector<Number> twiddles = random_numbers(p.scaled ? reach(p, p.wv, p.ws) : 0, generator);
    const Number untouched{-77, 77};
    std::vector<Number> out(reach(p, p.ov, p.os), untouched);
    const Columns columns{p.is, p.os, p.iv, p.ov, p.ws, p.wv, p.v / lanes, first_is_one};
    find_kernel(p.n, lanes, modes)(columns, parts(in), parts(out), parts(twiddles));
    const long double turn = -2 * std::acos(-1.0L) / p.n;
    long double wrong = 0, all = 0;
    for (int c = 0; c < p.v; c++) {
        for (int k = 0; k < p.n; k++) {
            Exact sum = 0;
            for (int j = 0; j < p.n; j++) {
                const bool is_scaled = p.scaled && !(first_is_one && j == 0);
                const Exact twiddle = is_scaled ? Exact(twiddles[place(c, p.wv, j, p.ws)]) : Exact(1);
                sum += std::polar(1.0L, turn * (j * k % p.n)) * twiddle * Exact(in[place(c, p.iv, j, p.is)]);
            }
            Number &found = out[place(c, p.ov, k, p.os)];
            wrong += std::norm(sum - Exact(found));
            all += std::norm(sum);
            found = untouched;
        }
    }
    for (const Number &number : out) {
        wrong += number == untouched ? 0 : INFINITY;
    }
    return static_cast<double>(std::sqrt(wrong / all));
}

}  // namespace

int main() {
    double worst = 0;
    int checks = 0;
    const auto check = [&](int size, int lanes, const AccessModes &wanted) {
        const TransformProblem problem = problem_with(size, lanes, wanted);
        for (const bool first_is_one : {false, problem.scaled}) {
            const double error = error_of(lanes, access_modes(problem, lanes), problem, first_is_one);
            if (!(error < 4e-16)) {
                std::printf("%d lanes, %s: error %g\n", lanes, to_string(problem).c_str(), error);
            }
            worst = std::max(worst, error);
            checks++;
        }
    };
    for (const int lanes : available_lanes()) {
        for (const int size : codelet_sizes) {
            for (const LoadMode load : {LoadMode::Contiguous, LoadMode::OneByOne}) {
                for (const StoreMode store : {StoreMode::Contiguous, StoreMode::Transposed, StoreMode::OneByOne}) {
                    for (const TwiddleMode twiddle :
                         {TwiddleMode::None, TwiddleMode::Contiguous, TwiddleMode::Broadcast, TwiddleMode::OneByOne}) {
                        check(size, lanes, {load, store, twiddle});
                    }
                }
            }
        }
    }
    std::printf("%d checks, largest relative error %g\n", checks, worst);
    return worst < 4e-16 ? 0 : 1;
}
