#pragma once

#include "problem/problem.h"

namespace halidegym {

// Checks what the rest of the core takes for granted of a problem: ids and indices that point where they should, lists
// of the right lengths, producers after their consumers. Lists that Problem::derive() fills are not looked at. Throws
// InvalidParameter.
void validate(const Problem &problem);

}  // namespace halidegym
