#include "halide/substitute_estimates.h"

#include <optional>
#include <string>

#include "problem/error.h"

namespace halidegym {

namespace {

using Halide::Expr;
using Halide::Internal::IRGraphVisitor;
using Halide::Internal::IRMutator;
using Halide::Internal::Variable;

Expr estimate_of(const Variable *variable) {
    const Halide::Parameter &parameter = variable->param;
    if (!parameter.is_buffer()) {
        return parameter.estimate();
    }
    for (int d = 0; d < parameter.dimensions(); d++) {
        if (variable->name == parameter.name() + ".min." + std::to_string(d)) {
            return parameter.min_constraint_estimate(d);
        }
        if (variable->name == parameter.name() + ".extent." + std::to_string(d)) {
            return parameter.extent_constraint_estimate(d);
        }
    }
    throw UnsupportedPipeline("'" + variable->name + "' of the input '" + parameter.name() +
                              "' occurs in a definition, but only the min and extent of an input buffer have "
                              "estimates. Write the definition without it, e.g. with a scalar Param in its place.");
}

// What supplies the estimate of a parameter to `halidegym`.
std::string option_for(const Halide::Parameter &parameter) {
    if (!parameter.is_buffer()) {
        return "--param " + parameter.name() + "=VALUE";
    }
    std::string option = "--estimate " + parameter.name() + "=";
    for (int d = 0; d < parameter.dimensions(); d++) {
        option += (d > 0 ? ",MIN,EXTENT" : "MIN,EXTENT");
    }
    return option;
}

class SubstituteEstimates : public IRMutator {
    using IRMutator::visit;

    Expr visit(const Variable *variable) override {
        if (!variable->param.defined()) {
            return variable;
        }
        const Expr estimate = estimate_of(variable);
        if (!estimate.defined() && variable->type.is_handle()) {
            throw UnsupportedPipeline(
                "The parameter '" + variable->param.name() +
                "', which occurs in a definition, is a pointer, for which no estimate stands. Write "
                "the definition with a scalar Param or an input buffer in its place.");
        }
        if (!estimate.defined()) {
            throw MissingEstimate(
                "Missing estimate for '" + variable->name + "' of the parameter '" + variable->param.name() +
                "', which occurs in a definition. Call set_estimate (a scalar Param) or "
                "set_estimates (an ImageParam) on it, or give "
                "estimates={\"" +
                variable->param.name() + "\": ...}; on the command line, " + option_for(variable->param) + ".");
        }
        // `set_estimate(true)` makes it an int32, which no condition of a `select` may be (Q18 of
        // docs/specification/function-dag.md).
        return variable->type.is_bool() ? Halide::cast(variable->type, estimate) : estimate;
    }
};

class FindParameter : public IRGraphVisitor {
    using IRGraphVisitor::visit;

    void visit(const Variable *variable) override { found = found || variable->param.defined(); }

public:
    bool found = false;
};

}  // namespace

Expr substitute_estimates(const Expr &e) {
    return SubstituteEstimates().mutate(e);
}

bool has_parameter(const Expr &e) {
    FindParameter finder;
    e.accept(&finder);
    return finder.found;
}

}  // namespace halidegym
