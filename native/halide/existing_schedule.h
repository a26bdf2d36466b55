#pragma once

#include <string>

#include <Halide.h>

namespace halidegym {

// The first scheduling directive that a Func has, in words, such as "compute_root or compute_at"; empty if it has none.
// Estimates and bounds of an output are no schedule, nor is the order of loops, from which the search starts
// (docs/specification/function-dag.md, sections 4.3 and 11). The Func has a definition, and is not extern.
std::string existing_schedule(const Halide::Internal::Function &function);

}  // namespace halidegym
