#pragma once

#include <HalideRuntime.h>

#include <string>
#include <vector>

namespace halidegym {

// How far outputs may be from the expected ones: floats, |actual - expected| <= absolute * scale + relative *
// |expected|, where the scale is the largest magnitude of the expected output, but at least 1e-4 and at most 1, and
// where `relative` is at least a step of the type, if that is bfloat16; integers, |actual - expected| <= integer.
struct Tolerance {
    double relative = 0;
    double absolute = 0;
    double integer = 0;
};

// Writes output number `i` to DIRECTORY/<i>.bin, dense, dimension 0 innermost. Returns a description of each, with
// semicolons between: its index, its type as NumPy spells it, its extents.
std::string write_outputs(const std::vector<const halide_buffer_t *> &outputs, const std::string &directory);

// Compares with what write_outputs wrote. Returns "points <number> of <number> ...", of each output how many of its
// points differ, and an example if any does: ": output 0 at (1, 2) is 3 instead of 4".
std::string compare_outputs(const std::vector<const halide_buffer_t *> &outputs, const std::string &directory,
                            const Tolerance &tolerance);

}  // namespace halidegym
