#pragma once

#include "nest/level.h"

namespace halidegym {

// Whether two nests of one problem are the same loops, in the same order, with the same contents. Exact, unlike the
// structural hash; quick where nests share levels.
bool equal_nests(const Level &a, const Level &b);

}  // namespace halidegym
