#include "nest/root_extents.h"

#include <optional>
#include <string>

#include "problem/error.h"

namespace halidegym {

namespace {

void require_running_loops(const Stage &stage, std::span<const Span> loops) {
    for (size_t i = 0; i < loops.size(); i++) {
        if (loops[i].extent() < 1) {
            throw UnsupportedPipeline("The loop over '" + stage.loops[i].variable + "' of '" + stage.name +
                                      "' never runs on the estimates: it goes from " + std::to_string(loops[i].min) +
                                      " to " + std::to_string(loops[i].max) +
                                      ". Give estimates of the outputs and parameters, and reduction domains, with "
                                      "which every loop runs at least once.");
        }
    }
}

// A sum of sizes of regions; empty once it does not fit into 64 bits.
using Count = std::optional<int64_t>;

Count plus_size(Count sum, std::span<const Span> region, int64_t unit) {
    int64_t size = unit;
    for (const Span &span : region) {
        if (__builtin_mul_overflow(size, span.extent(), &size)) {
            return std::nullopt;
        }
    }
    if (!sum || __builtin_add_overflow(*sum, size, &*sum)) {
        return std::nullopt;
    }
    return sum;
}

void require_count(Count count, const std::string &what, const std::string &last) {
    if (!count) {
        throw UnsupportedPipeline("On the estimates, the Funcs from the outputs to '" + last + "' " + what +
                                  " than can be counted, 2^63 or more. Give smaller estimates of the outputs and "
                                  "parameters.");
    }
}

}  // namespace

void require_usable_extents(const Problem &problem, const Regions &root) {
    Count bytes = 0;
    Count points = 0;
    for (const Node &node : problem.nodes) {
        const Bound &bound = root.of(node.id);
        for (int s = 0; s < node.num_stages; s++) {
            const Stage &stage = problem.stage(node, s);
            require_running_loops(stage, bound.loops(s));
            points = plus_size(points, bound.loops(s), 1);
            require_count(points, "compute more points", stage.name);
        }
        bytes = plus_size(bytes, bound.computed(), node.bytes_per_point);
        require_count(bytes, "hold more bytes", node.name);
    }
}

}  // namespace halidegym
