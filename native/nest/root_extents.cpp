#include "nest/root_extents.h"

#include <string>

#include "problem/error.h"

namespace halidegym {

void require_running_loops(const Problem &problem, const Regions &root) {
    for (const Node &node : problem.nodes) {
        const Bound &bound = root.of(node.id);
        for (int s = 0; s < node.num_stages; s++) {
            const Stage &stage = problem.stage(node, s);
            const auto spans = bound.loops(s);
            for (size_t i = 0; i < spans.size(); i++) {
                if (spans[i].extent() < 1) {
                    throw UnsupportedPipeline(
                        "The loop over '" + stage.loops[i].variable + "' of '" + stage.name +
                        "' never runs on the estimates: it goes from " + std::to_string(spans[i].min) + " to " +
                        std::to_string(spans[i].max) +
                        ". Give estimates of the outputs and parameters, and reduction domains, with which every loop "
                        "runs at least once.");
                }
            }
        }
    }
}

}  // namespace halidegym
