#pragma once

#include <string>
#include <vector>

#include <Halide.h>

#include "problem/problem.h"

namespace halidegym {

// A dimension of an input, or of an output that other Funcs read, of which more is read than its estimate (or bounds)
// provides.
struct Undersized {
    std::string name;
    bool is_output;
    int dimension;
    Span read;
    Span provided;
};

// Where a run of the whole pipeline on the estimates of its outputs reads more than there is. The reference takes no
// notice, and published estimates of benchmarks are so; kernels are run on inputs that are large enough. But called on
// inputs or outputs of these sizes, compiled code ends with an error. `pipeline`: the one that the problem was made
// from.
std::vector<Undersized> undersized_inputs(const Problem &problem, const Halide::Pipeline &pipeline);

}  // namespace halidegym
