#pragma once

#include <HalideRuntime.h>

#include <string>
#include <vector>

#include "runner/difference.h"

namespace halidegym {

// Writes output number `i` to DIRECTORY/<i>.bin, dense, dimension 0 innermost. Returns a description of each, with
// semicolons between: its index, its type as NumPy spells it, its extents.
std::string write_outputs(const std::vector<const halide_buffer_t *> &outputs, const std::string &directory);

// Compares with what write_outputs wrote. Returns "points <number> of <number> ...", of each output how many of its
// points differ, and an example if any does: ": output 0 at (1, 2) is 3 instead of 4".
std::string compare_outputs(const std::vector<const halide_buffer_t *> &outputs, const std::string &directory,
                            const Tolerance &tolerance);

}  // namespace halidegym
