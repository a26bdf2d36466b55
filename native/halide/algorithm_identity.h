#pragma once

#include <string>

#include <Halide.h>

namespace halidegym {

// What a pipeline computes, as bytes in which no name counts: equal for pipelines whose definitions, parameters and
// embedded buffers are equal, in every process; which random numbers they draw does not count either. The analysis is
// no such thing: it takes `sin` for `exp`.
std::string algorithm_identity(const Halide::Pipeline &pipeline);

}  // namespace halidegym
