#include "halide/input_estimates.h"

#include <optional>
#include <string>

#include "halide/func_graph.h"
#include "nest/regions.h"

namespace halidegym {

using namespace Halide::Internal;

namespace {

// The constraint goes before the estimate, as for outputs.
std::optional<int64_t> constant(const Halide::Expr &constraint, const Halide::Expr &estimate) {
    if (constraint.defined() && as_const_int(constraint)) {
        return as_const_int(constraint);
    }
    return estimate.defined() ? as_const_int(estimate) : std::nullopt;
}

std::optional<Span> provided(const Halide::Parameter &image, int dimension) {
    const auto min = constant(image.min_constraint(dimension), image.min_constraint_estimate(dimension));
    const auto extent = constant(image.extent_constraint(dimension), image.extent_constraint_estimate(dimension));
    if (!min || !extent) {
        return std::nullopt;
    }
    return Span{*min, *min + *extent - 1, false};
}

// What others read of an output, which is sized by its estimate alone.
std::vector<Span> read_by_others(Problem problem, int output) {
    problem.nodes[output].is_output = false;
    const Regions root(problem);
    const auto required = root.of(output).required();
    return {required.begin(), required.end()};
}

}  // namespace

std::vector<Undersized> undersized_inputs(const Problem &problem, const Halide::Pipeline &pipeline) {
    const FuncGraph graph = build_func_graph(pipeline);
    const Regions root(problem);
    std::vector<Undersized> found;
    for (const Node &node : problem.nodes) {
        if (node.is_output && !node.outgoing.empty()) {
            const std::vector<Span> needed = read_by_others(problem, node.id);
            for (int d = 0; d < node.dimensions; d++) {
                found.push_back({node.name, true, d, needed[d], node.estimated_region[d]});
            }
        }
        const Call *load = node.is_input ? graph.functions.at(node.id).is_wrapper() : nullptr;
        if (load && load->param.defined()) {
            const auto needed = root.of(node.id).required();
            for (int d = 0; d < load->param.dimensions(); d++) {
                if (const auto given = provided(load->param, d)) {
                    found.push_back({load->param.name(), false, d, needed[d], *given});
                }
            }
        }
    }
    std::erase_if(found,
                  [](const Undersized &u) { return u.read.min >= u.provided.min && u.read.max <= u.provided.max; });
    return found;
}

}  // namespace halidegym
