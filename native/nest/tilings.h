#pragma once

#include <vector>

#include "nest/level.h"

namespace halidegym {

// Tuples of outer trip counts to try for a level of the given trip counts, in the order of the reference: all factors
// that waste at most one seventh (docs/specification/search-space.md, section 9, "splits").
std::vector<Extents> tilings(const Extents &size);

// The same where each loop goes outside or inside as a whole ("no splits"): how many there are, and the one at an
// index.
int64_t num_whole_loop_tilings(const Extents &size);
Extents whole_loop_tiling(const Extents &size, int64_t index);

}  // namespace halidegym
