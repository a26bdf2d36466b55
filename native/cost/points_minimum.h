#pragma once

#include <cstdint>
#include <vector>

#include "nest/regions.h"
#include "problem/problem.h"

namespace halidegym {

// The fewest points that each stage has to compute, whatever the schedule: all of them once, or, if inlining is
// possible and cheaper, one for each call of its consumers (docs/specification/schedule-features.md, section 5.2). By
// stage id; 0 for inputs.
std::vector<int64_t> points_computed_minimum(const Problem &problem, const Regions &root);

}  // namespace halidegym
