#pragma once

#include <string>
#include <vector>

#include <Halide.h>

#include "halide/func_graph.h"
#include "problem/problem.h"

// Sections and quirks are those of docs/specification/function-dag.md.

namespace halidegym {

// An interval of symbols, before it is compiled, per dimension.
using SymbolicRegion = std::vector<Halide::Internal::Interval>;

// The symbols F.v.min, F.v.max of each variable in turn.
std::vector<std::string> limit_symbols(const std::string &func, const std::vector<std::string> &variables);

// Pure arguments as symbols; reduction variables as symbols too, or as their domain with all estimates put in
// (section 4.1).
enum class ReductionBounds { Symbolic, Concrete };
Halide::Internal::Scope<Halide::Internal::Interval> variable_scope(const Halide::Internal::Function &function,
                                                                   int stage, ReductionBounds reduction);

// `region`, the box that the stages before this one compute, widened by what this one computes of the box that the
// symbols describe; in final form after the last stage (section 4.2).
SymbolicRegion widen_region(SymbolicRegion region, const FuncGraph &graph, const Halide::Internal::Function &function,
                            int stage);

// The final region, classified.
std::vector<ComputedDimension> classify_region(const SymbolicRegion &region, const Halide::Internal::Function &function,
                                               std::vector<Expression> &expressions);

// The loops of a stage, innermost first. `region` is the box computed by the stages up to this one (section 4.3,
// quirk Q6).
std::vector<Loop> stage_loops(const Halide::Internal::Function &function, int stage, const SymbolicRegion &region,
                              std::vector<Expression> &expressions);

}  // namespace halidegym
