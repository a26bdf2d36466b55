#pragma once

#include <string>
#include <vector>

#include <Halide.h>

#include "problem/problem.h"

namespace halidegym {

// The inputs, and outputs that other Funcs read, of which a run of the whole pipeline on the estimates of its outputs
// reads more than their own estimates (or bounds) provide, one sentence each. The reference takes no notice, and
// published estimates of benchmarks are so; kernels are run on inputs that are large enough. But called on inputs or
// outputs of these sizes, compiled code ends with an error. `pipeline`: the one that the problem was made from.
std::vector<std::string> undersized_inputs(const Problem &problem, const Halide::Pipeline &pipeline);

}  // namespace halidegym
