#include "transform/counts.h"

#include <algorithm>
#include <utility>

namespace halidegym {

namespace {

using MaybeCount = std::optional<Count>;

MaybeCount operator+(const MaybeCount &a, const MaybeCount &b) {
    Count sum;
    return a && b && !__builtin_add_overflow(*a, *b, &sum) ? MaybeCount(sum) : std::nullopt;
}

MaybeCount operator*(const MaybeCount &a, const MaybeCount &b) {
    Count product;
    return a && b && !__builtin_mul_overflow(*a, *b, &product) ? MaybeCount(product) : std::nullopt;
}

// Of each problem, the sum over its steps of the products over what they leave, and `extra`.
MaybeCount sum_of_products(const StepClosure &closure, const MaybeCount &extra) {
    std::vector<MaybeCount> counts;
    for (ProblemId id = 0; id < closure.num_problems(); id++) {
        MaybeCount sum = extra;
        for (const StepChoice &choice : closure.choices(id)) {
            MaybeCount product = Count{1};
            for (size_t i = 0; i < choice.num_subs(); i++) {
                product = product * counts[choice.subs[i]];
            }
            sum = sum + product;
        }
        counts.push_back(sum);
    }
    return counts.back();
}

std::vector<std::vector<MaybeCount>> binomials(int largest) {
    std::vector<std::vector<MaybeCount>> rows;
    for (int n = 0; n <= largest; n++) {
        std::vector<MaybeCount> row(static_cast<size_t>(n) + 1, Count{1});
        for (size_t k = 1; k + 1 < row.size(); k++) {
            row[k] = rows.back()[k - 1] + rows.back()[k];
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

std::optional<Count> count_plans(const StepClosure &closure) {
    return sum_of_products(closure, Count{0});
}

std::optional<Count> count_words(const StepClosure &closure) {
    return sum_of_products(closure, Count{1});
}

std::optional<Count> count_walks(const StepClosure &closure) {
    const std::vector<int> depths = max_depths(closure);
    const auto choose = binomials(*std::ranges::max_element(depths));
    // By problem and number of steps: the walks of all plans with so many steps. Those of two parts interleave freely.
    std::vector<std::vector<MaybeCount>> walks;
    for (ProblemId id = 0; id < closure.num_problems(); id++) {
        std::vector<MaybeCount> sum(static_cast<size_t>(depths[id]) + 1, Count{0});
        for (const StepChoice &choice : closure.choices(id)) {
            std::vector<MaybeCount> product{Count{1}};
            for (size_t i = 0; i < choice.num_subs(); i++) {
                const auto &factor = walks[choice.subs[i]];
                std::vector<MaybeCount> longer(product.size() + factor.size() - 1, Count{0});
                for (size_t a = 0; a < product.size(); a++) {
                    for (size_t b = 0; b < factor.size(); b++) {
                        if (product[a] != Count{0} && factor[b] != Count{0}) {
                            longer[a + b] = longer[a + b] + product[a] * factor[b] * choose[a + b][a];
                        }
                    }
                }
                product = std::move(longer);
            }
            for (size_t k = 0; k < product.size(); k++) {
                sum[k + 1] = sum[k + 1] + product[k];
            }
        }
        walks.push_back(std::move(sum));
    }
    MaybeCount total = Count{0};
    for (const MaybeCount &count : walks.back()) {
        total = total + count;
    }
    return total;
}

std::vector<int> max_depths(const StepClosure &closure) {
    std::vector<int> depths;
    for (ProblemId id = 0; id < closure.num_problems(); id++) {
        int most = 0;
        for (const StepChoice &choice : closure.choices(id)) {
            int depth = 1;
            for (size_t i = 0; i < choice.num_subs(); i++) {
                depth += depths[choice.subs[i]];
            }
            most = std::max(most, depth);
        }
        depths.push_back(most);
    }
    return depths;
}

}  // namespace halidegym
