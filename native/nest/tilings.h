#pragma once

#include <vector>

#include "nest/level.h"

namespace halidegym {

// The outer trip counts to try for one loop of n trips, n itself first, where inner ones grow by this factor; and the
// factor, coarser the more choices the loops before it have together (docs/specification/search-space.md, section 9).
std::vector<int64_t> split_choices(int64_t n, int64_t growth);
int64_t growth_factor(int64_t prefixes);

// Tuples of outer trip counts to try for a level of the given trip counts, in the order of the reference: all factors
// that waste at most one seventh (docs/specification/search-space.md, section 9, "splits").
std::vector<Extents> tilings(const Extents &size);

// The same where each loop goes outside or inside as a whole ("no splits"): how many there are, and the one at an
// index.
int64_t num_whole_loop_tilings(const Extents &size);
Extents whole_loop_tiling(const Extents &size, int64_t index);

}  // namespace halidegym
