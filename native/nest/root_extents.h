#pragma once

#include "nest/regions.h"
#include "problem/problem.h"

namespace halidegym {

// Throws UnsupportedPipeline if a loop does not run at all when the whole pipeline runs once on its estimates. Tilings
// and features divide by extents, as they do in the reference, which does not survive such a pipeline either.
void require_running_loops(const Problem &problem, const Regions &root);

}  // namespace halidegym
