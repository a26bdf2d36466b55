#include "halide/output_estimates.h"

#include <map>
#include <optional>
#include <string>

#include "halide/base_name.h"
#include "problem/error.h"

namespace halidegym {

using namespace Halide::Internal;

namespace {

std::optional<Span> constant_span(const Halide::Internal::Bound &bound, const Function &output, bool constant_extent) {
    const auto min = as_const_int(bound.min);
    const auto extent = as_const_int(bound.extent);
    if (!min || !extent) {
        return std::nullopt;
    }
    if (*extent < 1) {
        throw InvalidParameter("The " + std::string(constant_extent ? "bound" : "estimate") + " of '" + bound.var +
                               "' of the output '" + output.name() + "' has the extent " + std::to_string(*extent) +
                               ". Give it an extent of at least 1.");
    }
    return Span{*min, *min + *extent - 1, constant_extent};
}

std::string option_for(const Function &output) {
    std::string option = "--estimate " + base_name(output.name()) + "=";
    for (int d = 0; d < output.dimensions(); d++) {
        option += (d > 0 ? ",MIN,EXTENT" : "MIN,EXTENT");
    }
    return option;
}

}  // namespace

std::vector<Span> estimated_region(const Function &output) {
    std::map<std::string, Span> spans;
    for (const Halide::Internal::Bound &estimate : output.schedule().estimates()) {
        const auto span = constant_span(estimate, output, false);
        if (!span) {
            // bound_extent leaves such an entry, too, with an undefined min
            // (docs/specification/function-dag.md, quirk Q16).
            const std::string what = "The estimate of '" + estimate.var + "' of the output '" + output.name() +
                                     "' is not constant: min and extent must both be integers";
            if (!estimate.min.defined() || !estimate.extent.defined()) {
                throw MissingEstimate(what +
                                      ", and one is missing. Use set_estimate or bound in place of bound_extent.");
            }
            throw UnsupportedPipeline(what + ". Call set_estimate with two plain integers.");
        }
        spans.insert_or_assign(estimate.var, *span);
    }
    for (const Halide::Internal::Bound &bound : output.schedule().bounds()) {
        if (const auto span = constant_span(bound, output, true)) {
            spans.insert_or_assign(bound.var, *span);
        }
    }
    std::vector<Span> region;
    for (const std::string &arg : output.args()) {
        const auto span = spans.find(arg);
        if (span == spans.end()) {
            throw MissingEstimate(
                "The output '" + output.name() + "' has no estimate on dimension " + std::to_string(region.size()) +
                " ('" + arg + "'). Call set_estimates on it, or bound with constants, or give estimates={\"" +
                base_name(output.name()) + "\": ...}; on the command line, " + option_for(output) + ".");
        }
        region.push_back(span->second);
    }
    return region;
}

std::vector<int> unit_stride_dimensions(const Function &output) {
    std::vector<int> dimensions;
    const Halide::Parameter &buffer = output.output_buffers().at(0);
    for (int d = 0; d < buffer.dimensions(); d++) {
        const Halide::Expr stride = buffer.stride_constraint(d);
        if (stride.defined() && is_const_one(stride)) {
            dimensions.push_back(d);
        }
    }
    return dimensions;
}

}  // namespace halidegym
