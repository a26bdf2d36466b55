#pragma once

#include <vector>

#include <Halide.h>

#include "problem/span.h"

namespace halidegym {

// The region of an output that its estimates and bounds ask for, per dimension; only bounds have a constant extent
// (docs/specification/function-dag.md, section 4.7).
std::vector<Span> estimated_region(const Halide::Internal::Function &output);

// The dimensions of an output buffer whose stride is constrained to 1, ascending.
std::vector<int> unit_stride_dimensions(const Halide::Internal::Function &output);

}  // namespace halidegym
