#include "observation/child_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "observation/scaling.h"

namespace halidegym {

namespace {

enum Column : size_t { of_reference, own_part, other_part, of_cheapest };

bool is_of(const Node &func, int stage) {
    return stage >= func.first_stage && stage < func.first_stage + func.num_stages;
}

}  // namespace

ChildRows ChildReader::read(Expansion &expansion, std::span<const Decision> decisions, double reference_cost) {
    constexpr auto columns = static_cast<size_t>(num_child_features);
    ChildRows result{std::vector<float>(decisions.size() * columns), {}};
    double cheapest = std::numeric_limits<double>::infinity();
    float *row = result.rows.data();
    // A state of a walk owns no nest: what was read before may be gone, and another one be where it was.
    evaluator_.release();
    for (const Decision &decision : decisions) {
        const State &state = expansion.state();
        const Node &func = state.next_func();
        bench_.clear();
        const auto cost = evaluator_.cost_of_child(state.nest(), *expansion.child_nest(bench_, decision));
        result.costs.push_back(cost.value_or(std::numeric_limits<double>::quiet_NaN()));
        row[of_reference] = max_log_ratio;
        if (cost) {
            cheapest = std::min(cheapest, *cost);
            row[of_reference] = log_ratio(*cost, reference_cost);
            write_parts(func, *cost, row);
        }
        write_features(func, row + num_child_costs);
        row += columns;
    }
    for (size_t i = 0; i < decisions.size(); i++) {
        result.rows[i * columns + of_cheapest] =
            std::isnan(result.costs[i]) ? max_log_ratio : log_ratio(result.costs[i], cheapest);
    }
    return result;
}

void ChildReader::write_features(const Node &func, float *out) const {
    FeatureRow sums{};
    for (const int stage : evaluator_.last_stages()) {
        if (is_of(func, stage)) {
            std::ranges::transform(sums, evaluator_.last_row(stage), sums.begin(), std::plus());
        }
    }
    std::ranges::transform(sums, out, scaled);
}

void ChildReader::write_parts(const Node &func, double cost, float *row) {
    const auto stages = evaluator_.last_stages();
    const auto costs = evaluator_.last_stage_costs();
    double own = 0;
    double others = 0;
    for (size_t i = 0; i < stages.size(); i++) {
        (is_of(func, stages[i]) ? own : others) += costs[i];
    }
    row[own_part] = log_ratio(own, cost);
    row[other_part] = log_ratio(others, cost);
}

}  // namespace halidegym
