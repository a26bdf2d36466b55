#include "cost/load_table.h"

#include <utility>

namespace halidegym {

namespace {

LoadPattern pattern(const LoadJacobian &jacobian, int loop) {
    LoadPattern result;
    for (int d = 0; d < jacobian.rows; d++) {
        const Rational step = jacobian.entry(d, loop);
        if (step.is(0)) continue;
        if (result.kind != LoadKind::Broadcast) return {LoadKind::Gather, -1};  // moves in several dimensions
        result = {LoadKind::Gather, static_cast<int8_t>(d)};
        for (int8_t stride = 1; stride <= 4; stride++) {
            if (step.is(stride)) result.kind = static_cast<LoadKind>(stride);
        }
    }
    return result;
}

}  // namespace

LoadTable::LoadTable(const Problem &problem) : problem_(problem), edges_(problem.edges.size()) {
    for (const Edge &edge : problem.edges) {
        LoadRange &range = edges_[static_cast<size_t>(edge.id)];
        range.begin = static_cast<int>(loads_.size());
        for (const LoadJacobian &jacobian : edge.jacobians) {
            add(problem.stages[static_cast<size_t>(edge.consumer_stage)], edge.producer, jacobian);
        }
        range.end = static_cast<int>(loads_.size());
    }
}

LoadRange LoadTable::through(int load) {
    const LoadRange known = loads_[static_cast<size_t>(load)].through;
    if (known.begin >= 0) return known;

    const Node &inlined = problem_.nodes[static_cast<size_t>(loads_[static_cast<size_t>(load)].producer)];
    const Stage &definition = problem_.stage(inlined, 0);
    const Stage &reader = problem_.stages[static_cast<size_t>(readers_[static_cast<size_t>(load)])];
    LoadRange range{.begin = static_cast<int>(loads_.size()), .end = 0};
    if (!definition.incoming.empty()) {
        const Edge &edge = problem_.edges[static_cast<size_t>(definition.incoming.front())];
        for (const LoadJacobian &jacobian : edge.jacobians) {
            add(reader, edge.producer, jacobian * jacobians_[static_cast<size_t>(load)]);
        }
    }
    range.end = static_cast<int>(loads_.size());
    loads_[static_cast<size_t>(load)].through = range;
    return range;
}

void LoadTable::add(const Stage &reader, int producer, LoadJacobian jacobian) {
    Load load{.producer = producer, .count = jacobian.count};
    for (size_t i = 0; i < reader.loops.size(); i++) {
        load.by_loop[i] = pattern(jacobian, static_cast<int>(i));
        if (load.by_loop[i].kind == LoadKind::Broadcast && !reader.loops[i].rvar) {
            load.invariant_loops |= uint32_t{1} << i;
        }
    }
    loads_.push_back(load);
    jacobians_.push_back(std::move(jacobian));
    readers_.push_back(reader.id);
}

}  // namespace halidegym
