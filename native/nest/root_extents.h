#pragma once

#include "nest/regions.h"
#include "problem/problem.h"

namespace halidegym {

// What the regions of a pipeline that runs once on its estimates must be like for tilings and features to be computed,
// which divide by extents and count points and bytes in 64 bits. Throws UnsupportedPipeline if
// - a loop does not run at all: the reference does not survive such a pipeline;
// - the points that its stages compute, or the bytes that its Funcs hold, are 2^63 or more in all: the reference
// refuses
//   if what one stage reads overflows to a negative number, and gives negative costs, hangs or crashes if other numbers
//   do.
void require_usable_extents(const Problem &problem, const Regions &root);

}  // namespace halidegym
