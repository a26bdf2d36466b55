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

std::string text(const Span &span) {
    return std::to_string(span.min) + " to " + std::to_string(span.max);
}

}  // namespace

std::vector<std::string> undersized_inputs(const Problem &problem, const Halide::Pipeline &pipeline) {
    const FuncGraph graph = build_func_graph(pipeline);
    const Regions root(problem);
    std::vector<std::string> found;
    for (const Node &node : problem.nodes) {
        const Call *load = node.is_input ? graph.functions.at(node.id).is_wrapper() : nullptr;
        if (!load || !load->param.defined()) {
            continue;
        }
        const auto needed = root.of(node.id).required();
        for (int d = 0; d < load->param.dimensions(); d++) {
            const auto given = provided(load->param, d);
            if (given && (needed[d].min < given->min || needed[d].max > given->max)) {
                found.push_back("The pipeline reads " + text(needed[d]) + " of dimension " + std::to_string(d) +
                                " of the input '" + load->param.name() + "', whose estimate provides " + text(*given) +
                                ".");
            }
        }
    }
    return found;
}

}  // namespace halidegym
