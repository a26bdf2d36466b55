#include "cost/limits.h"

namespace halidegym {

namespace {

bool recomputes_too_much(const FeatureRow &row, double max_recompute) {
    return row[feature::points_computed_total] + row[feature::inlined_calls] >
           max_recompute * row[feature::points_computed_minimum];
}

// The output counts once for each of its stages (docs/specification/schedule-features.md, quirk Q19), so the result can
// be negative.
int64_t memory_beyond_outputs(const Problem &problem, const NestTable &nest) {
    if (nest.stages().empty()) return 0;
    int64_t memory = nest.working_set_at_root();
    for (const int stage : nest.stages()) {
        if (problem.node_of(problem.stages[static_cast<size_t>(stage)]).is_output) {
            memory -= static_cast<int64_t>(nest.row(stage)[feature::bytes_at_production]);
        }
    }
    return memory;
}

}  // namespace

std::optional<Limit> exceeded_limit(const Problem &problem, const NestTable &nest, std::span<const int> stages,
                                    int64_t memory_limit, double max_recompute) {
    for (const int stage : stages) {
        const bool is_wrapper = problem.node_of(problem.stages[static_cast<size_t>(stage)]).is_wrapper;
        if (!is_wrapper && recomputes_too_much(nest.row(stage), max_recompute)) return Limit::Recompute;
    }
    if (nest.most_inlined_calls() > max_inlined_calls) return Limit::CodeSize;
    if (memory_limit >= 0 && memory_beyond_outputs(problem, nest) > memory_limit) return Limit::Memory;
    return std::nullopt;
}

}  // namespace halidegym
