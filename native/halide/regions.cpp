#include "halide/regions.h"

#include <algorithm>

#include "halide/compile_expression.h"
#include "halide/substitute_estimates.h"
#include "problem/error.h"

namespace halidegym {

using namespace Halide::Internal;
using Halide::Expr;

namespace {

Interval symbols_of(const std::string &func, const std::string &variable) {
    return {Variable::make(Halide::Int(32), func + "." + variable + ".min"),
            Variable::make(Halide::Int(32), func + "." + variable + ".max")};
}

std::string stage_title(const Function &function, int stage) {
    return "'" + function.name() + "'" + (stage == 0 ? "" : " (update " + std::to_string(stage - 1) + ")");
}

ComputedDimension classify(const Interval &computed, const Interval &required) {
    ComputedDimension dimension;
    if (equal(computed.min, required.min) && equal(computed.max, required.max)) {
        dimension.kind = ComputedDimension::Kind::EqualsRequired;
        return dimension;
    }
    const Min *min = computed.min.as<Min>();
    const Max *max = computed.max.as<Max>();
    if (min && max && equal(min->a, required.min) && equal(max->a, required.max)) {
        const auto constant_min = as_const_int(min->b);
        const auto constant_max = as_const_int(max->b);
        if (constant_min && constant_max) {
            dimension.kind = ComputedDimension::Kind::UnionWithConstants;
            dimension.constant_min = *constant_min;
            dimension.constant_max = *constant_max;
            return dimension;
        }
    }
    dimension.kind = ComputedDimension::Kind::General;
    return dimension;
}

int add_expression(const Expr &e, const std::vector<std::string> &symbols, std::vector<Expression> &expressions) {
    expressions.push_back(compile_expression(e, symbols));
    return static_cast<int>(expressions.size()) - 1;
}

Loop make_loop(const Function &function, const Dim &dim, const Interval &limits, const SymbolicRegion &region,
               std::vector<Expression> &expressions) {
    Loop loop;
    loop.variable = dim.var;
    loop.pure = dim.is_pure();
    loop.rvar = dim.is_rvar();
    const std::vector<std::string> &args = function.args();
    if (!loop.rvar) {
        loop.pure_dim = static_cast<int>(std::find(args.begin(), args.end(), dim.var) - args.begin());
    }
    for (size_t j = 0; j < region.size(); j++) {
        if (equal(limits.min, region[j].min) && equal(limits.max, region[j].max)) {
            loop.kind = Loop::Kind::ComputedDimension;
            loop.computed_dim = static_cast<int>(j);
            return loop;
        }
    }
    const auto constant_min = as_const_int(limits.min);
    const auto constant_max = as_const_int(limits.max);
    if (constant_min && constant_max) {
        loop.kind = Loop::Kind::Constant;
        loop.constant_min = *constant_min;
        loop.constant_max = *constant_max;
        return loop;
    }
    const std::vector<std::string> symbols = limit_symbols(function.name(), args);
    loop.kind = Loop::Kind::General;
    loop.expression_min = add_expression(limits.min, symbols, expressions);
    loop.expression_max = add_expression(limits.max, symbols, expressions);
    return loop;
}

}  // namespace

std::vector<std::string> limit_symbols(const std::string &func, const std::vector<std::string> &variables) {
    std::vector<std::string> symbols;
    for (const std::string &variable : variables) {
        symbols.push_back(func + "." + variable + ".min");
        symbols.push_back(func + "." + variable + ".max");
    }
    return symbols;
}

Scope<Interval> variable_scope(const Function &function, int stage, ReductionBounds reduction) {
    Scope<Interval> scope;
    for (const std::string &arg : function.args()) {
        scope.push(arg, symbols_of(function.name(), arg));
    }
    for (const ReductionVariable &r : definition_of(function, stage).schedule().rvars()) {
        if (reduction == ReductionBounds::Symbolic) {
            scope.push(r.var, symbols_of(function.name(), r.var));
        } else {
            scope.push(r.var, Interval(simplify(substitute_estimates(r.min)),
                                       simplify(substitute_estimates(r.min + r.extent - 1))));
        }
    }
    return scope;
}

SymbolicRegion widen_region(SymbolicRegion region, const FuncGraph &graph, const Function &function, int stage) {
    const Scope<Interval> scope = variable_scope(function, stage, ReductionBounds::Concrete);
    const std::vector<Expr> &args = definition_of(function, stage).args();
    for (size_t j = 0; j < args.size(); j++) {
        const Interval computed = bounds_of_expr_in_scope(args[j], scope, graph.value_bounds);
        if (!computed.is_bounded()) {
            throw UnsupportedPipeline("The region computed of the Func " + stage_title(function, stage) +
                                      " is unbounded in dimension " + std::to_string(j) +
                                      ". Clamp the index on the left-hand side of its definition.");
        }
        if (stage == 0) {
            region.push_back(computed);
        } else {
            region[j].include(computed);
        }
    }
    if (stage + 1 == num_stages(function)) {
        for (Interval &interval : region) {
            interval.min = simplify(substitute_estimates(interval.min));
            interval.max = simplify(substitute_estimates(interval.max));
        }
    }
    return region;
}

std::vector<ComputedDimension> classify_region(const SymbolicRegion &region, const Function &function,
                                               std::vector<Expression> &expressions) {
    const std::vector<std::string> symbols = limit_symbols(function.name(), function.args());
    std::vector<ComputedDimension> dimensions;
    for (size_t j = 0; j < region.size(); j++) {
        ComputedDimension dimension = classify(region[j], symbols_of(function.name(), function.args()[j]));
        if (dimension.kind == ComputedDimension::Kind::General) {
            dimension.expression_min = add_expression(region[j].min, symbols, expressions);
            dimension.expression_max = add_expression(region[j].max, symbols, expressions);
        }
        dimensions.push_back(dimension);
    }
    return dimensions;
}

std::vector<Loop> stage_loops(const Function &function, int stage, const SymbolicRegion &region,
                              std::vector<Expression> &expressions) {
    const Scope<Interval> scope = variable_scope(function, stage, ReductionBounds::Concrete);
    const std::string stage_name = function.name() + (stage == 0 ? "" : ".update(" + std::to_string(stage - 1) + ")");
    const std::vector<Dim> &dims = definition_of(function, stage).schedule().dims();
    std::vector<Loop> loops;
    for (size_t i = 0; i < dims.size(); i++) {
        if (!scope.contains(dims[i].var)) {
            continue;  // the synthetic outermost dimension
        }
        Loop loop = make_loop(function, dims[i], scope.get(dims[i].var), region, expressions);
        loop.accessor = stage_name + ".get_schedule().dims()[" + std::to_string(i) + "].var";
        loops.push_back(std::move(loop));
    }
    if (loops.size() > max_loops) {
        throw UnsupportedPipeline("The Func " + stage_title(function, stage) + " has " + std::to_string(loops.size()) +
                                  " loops; at most " + std::to_string(max_loops) +
                                  " are supported. Split the computation into Funcs of fewer dimensions.");
    }
    return loops;
}

}  // namespace halidegym
