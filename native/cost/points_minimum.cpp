#include "cost/points_minimum.h"

#include <algorithm>

namespace halidegym {

std::vector<int64_t> points_computed_minimum(const Problem &problem, const Regions &root) {
    std::vector<int64_t> points(problem.stages.size());
    for (const Stage &stage : problem.stages) {
        const Node &node = problem.node_of(stage);
        if (node.is_input) continue;
        int64_t realized = 1;
        for (const Span &loop : root.of(node.id).loops(stage.index)) {
            realized *= loop.extent();
        }
        int64_t &minimum = points[static_cast<size_t>(stage.id)];
        minimum = realized;
        if (node.num_stages == 1 && !node.is_output) {
            int64_t inlined = 0;
            for (const int e : node.outgoing) {
                const Edge &edge = problem.edges[static_cast<size_t>(e)];
                inlined += points[static_cast<size_t>(edge.consumer_stage)] * edge.calls;
            }
            minimum = std::min(realized, inlined);
        }
    }
    return points;
}

}  // namespace halidegym
