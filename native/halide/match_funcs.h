#pragma once

#include <Halide.h>

#include <vector>

#include "problem/problem.h"

namespace halidegym {

// The Funcs of a pipeline, one a node, that stand where the nodes' Funcs stand in `original`, from which the problem
// was made. Names do not count, since Halide makes them unique in a process ("f$1", "lambda_3"): both pipelines are
// walked from their outputs along the calls, in the order in which the definitions make them.
//
// Throws InvalidParameter if the pipelines differ in outputs, calls, dimensions, definitions or loops, or if the second
// one has a schedule; the message says where.
std::vector<Halide::Func> match_funcs(const Problem &problem, const Halide::Pipeline &original,
                                      const Halide::Pipeline &pipeline);

}  // namespace halidegym
