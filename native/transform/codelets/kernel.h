#pragma once

#include <cstddef>

#include "transform/access_modes.h"

// What a codelet is called with, and tables of codelets.
//
// Files compiled for an instruction set of their own include this one, so it has data alone: an inline function that
// such a file emits could replace everybody's.

namespace halidegym {

// Groups of columns of a problem (transform/problem.h), of as many columns as the kernel has lanes. Strides count
// complex numbers, each a real and an imaginary part side by side.
struct Columns {
    ptrdiff_t is, os, iv, ov, ws, wv;
    ptrdiff_t groups;
    bool first_is_one;  // the twiddles of the first element of each column are 1, and are not read
};

// Twiddles are those of a scaled problem. A group is read before it is written, so that `out` may be `in` if their
// strides are equal.
using Kernel = void (*)(const Columns &columns, const double *in, double *out, const double *twiddles);

struct KernelEntry {
    int size;
    AccessModes modes;
    Kernel kernel;
};

struct KernelTable {
    const KernelEntry *entries;
    size_t count;
};

extern const KernelTable kernels_of_1_lane;
#ifdef __x86_64__
extern const KernelTable kernels_of_2_lanes;
extern const KernelTable kernels_of_4_lanes;
#endif

}  // namespace halidegym
