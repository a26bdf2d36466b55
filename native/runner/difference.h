#pragma once

#include <HalideRuntime.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace halidegym {

// How far outputs may be from the expected ones: floats, |actual - expected| <= absolute * scale + relative *
// |expected|, where the scale is the largest magnitude of the expected output, but at least 1e-4 and at most 1, and
// where `relative` is at least a step of the type, if that is bfloat16; integers, |actual - expected| <= integer.
struct Tolerance {
    double relative = 0;
    double absolute = 0;
    double integer = 0;
};

// How many elements are too far off, and which is the first of them.
struct Difference {
    size_t count = 0;
    size_t first = 0;
};

// Compares elements of a type, of which there are equally many bytes on both sides.
Difference difference(halide_type_t type, std::span<const uint8_t> actual, std::span<const uint8_t> expected,
                      const Tolerance &tolerance);

// An element as a number, the nearest one where there is no double for it.
double as_double(halide_type_t type, const uint8_t *from);

}  // namespace halidegym
