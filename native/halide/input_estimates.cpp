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

std::string text(const Span &span) {
    return std::to_string(span.min) + " to " + std::to_string(span.max);
}

// The sentence that says that a dimension is read beyond its estimate; empty if it is not.
std::string beyond(const Span &needed, const Span &given, int dimension, const std::string &what) {
    if (needed.min >= given.min && needed.max <= given.max) {
        return "";
    }
    return "The pipeline reads " + text(needed) + " of dimension " + std::to_string(dimension) + " of the " + what +
           ", whose estimate provides " + text(given) + ".";
}

}  // namespace

std::vector<std::string> undersized_inputs(const Problem &problem, const Halide::Pipeline &pipeline) {
    const FuncGraph graph = build_func_graph(pipeline);
    const Regions root(problem);
    std::vector<std::string> found;
    for (const Node &node : problem.nodes) {
        if (node.is_output && !node.outgoing.empty()) {
            const std::vector<Span> needed = read_by_others(problem, node.id);
            for (int d = 0; d < node.dimensions; d++) {
                found.push_back(beyond(needed[d], node.estimated_region[d], d, "output '" + node.name + "'"));
            }
        }
        const Call *load = node.is_input ? graph.functions.at(node.id).is_wrapper() : nullptr;
        if (load && load->param.defined()) {
            const auto needed = root.of(node.id).required();
            for (int d = 0; d < load->param.dimensions(); d++) {
                if (const auto given = provided(load->param, d)) {
                    found.push_back(beyond(needed[d], *given, d, "input '" + load->param.name() + "'"));
                }
            }
        }
    }
    std::erase(found, "");
    return found;
}

}  // namespace halidegym
