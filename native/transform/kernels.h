#pragma once

#include <vector>

#include "transform/codelets/kernel.h"

namespace halidegym {

// The numbers of lanes (complex doubles in a vector register) that this machine has instructions for, ascending.
const std::vector<int> &available_lanes();

// The kernel for so many columns at a time, in these modes or others that do as well. Throws InvalidParameter if this
// machine has no such registers.
Kernel find_kernel(int size, int lanes, const AccessModes &modes);

}  // namespace halidegym
