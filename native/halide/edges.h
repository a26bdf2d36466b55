#pragma once

#include <map>
#include <string>
#include <vector>

#include <Halide.h>

#include "halide/func_graph.h"
#include "problem/problem.h"

namespace halidegym {

// One edge for each other Func of the graph that the bundle of a stage calls, in the order of their names: what box of
// it the stage needs, and `calls`, its call sites by callee name (docs/specification/function-dag.md, section 5). Load
// Jacobians are added by the featurization; ids start with `first_id`.
std::vector<Edge> stage_edges(const FuncGraph &graph, const Halide::Internal::Function &consumer, const Stage &stage,
                              const Halide::Expr &bundle, const std::map<std::string, int> &calls, int first_id,
                              std::vector<Expression> &expressions);

}  // namespace halidegym
