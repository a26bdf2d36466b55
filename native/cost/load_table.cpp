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

Load load_of(const Stage &reader, int producer, const LoadJacobian &jacobian) {
    Load load{.producer = producer, .reader = reader.id, .count = jacobian.count};
    for (size_t i = 0; i < reader.loops.size(); i++) {
        load.by_loop[i] = pattern(jacobian, static_cast<int>(i));
        if (load.by_loop[i].kind == LoadKind::Broadcast && !reader.loops[i].rvar) {
            load.invariant_loops |= uint32_t{1} << i;
        }
    }
    return load;
}

}  // namespace

EdgeLoads::EdgeLoads(const Problem &problem) {
    for (const Edge &edge : problem.edges) {
        const auto begin = static_cast<int>(loads.size());
        for (const LoadJacobian &jacobian : edge.jacobians) {
            loads.push_back(load_of(problem.stages[static_cast<size_t>(edge.consumer_stage)], edge.producer, jacobian));
            jacobians.push_back(&jacobian);
        }
        of_edge.push_back({.begin = begin, .end = static_cast<int>(loads.size())});
    }
}

LoadRange LoadTable::through(int load) {
    const Load through = loads_[static_cast<size_t>(load)];
    if (through.through.begin >= 0) return through.through;

    const Stage &definition = problem_.stage(problem_.nodes[static_cast<size_t>(through.producer)], 0);
    LoadRange range{.begin = static_cast<int>(loads_.size()), .end = 0};
    if (!definition.incoming.empty()) {
        const Edge &edge = problem_.edges[static_cast<size_t>(definition.incoming.front())];
        for (const LoadJacobian &next : edge.jacobians) {
            LoadJacobian product = next * jacobian(load);
            const Stage &reader = problem_.stages[static_cast<size_t>(through.reader)];
            loads_.push_back(load_of(reader, edge.producer, product));
            composed_.push_back(std::move(product));
        }
    }
    range.end = static_cast<int>(loads_.size());
    loads_[static_cast<size_t>(load)].through = range;
    return range;
}

}  // namespace halidegym
