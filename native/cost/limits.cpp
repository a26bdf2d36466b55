#include "cost/limits.h"

#include <algorithm>

namespace halidegym {

namespace {

constexpr double max_recompute = 8;
constexpr int64_t max_inlined_calls = 255;

bool recomputes_too_much(const FeatureRow &row) {
    return row[feature::points_computed_total] + row[feature::inlined_calls] >
           max_recompute * row[feature::points_computed_minimum];
}

bool inlines_too_much(const Level &level) {
    return std::any_of(level.inlined.begin(), level.inlined.end(),
                       [](const auto &inlined) { return inlined.second > max_inlined_calls; }) ||
           std::any_of(level.children.begin(), level.children.end(),
                       [](const LevelRef &child) { return inlines_too_much(*child); });
}

// The output counts once for each of its stages (docs/specification/schedule-features.md, quirk Q19), so the result can
// be negative.
int64_t memory_beyond_outputs(const Problem &problem, const FeatureTable &table) {
    if (table.stages.empty()) return 0;
    auto memory = static_cast<int64_t>(table.row(table.stages.front())[feature::working_set_at_root]);
    for (const int stage : table.stages) {
        if (problem.node_of(problem.stages[static_cast<size_t>(stage)]).is_output) {
            memory -= static_cast<int64_t>(table.row(stage)[feature::bytes_at_production]);
        }
    }
    return memory;
}

}  // namespace

std::optional<Limit> exceeded_limit(const Problem &problem, const FeatureTable &table, const Level &root,
                                    int64_t memory_limit) {
    for (const int stage : table.stages) {
        const bool is_wrapper = problem.node_of(problem.stages[static_cast<size_t>(stage)]).is_wrapper;
        if (!is_wrapper && recomputes_too_much(table.row(stage))) return Limit::Recompute;
    }
    if (inlines_too_much(root)) return Limit::CodeSize;
    if (memory_limit >= 0 && memory_beyond_outputs(problem, table) > memory_limit) return Limit::Memory;
    return std::nullopt;
}

}  // namespace halidegym
