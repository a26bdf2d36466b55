#pragma once

#include <span>

#include "nest/directives.h"
#include "problem/problem.h"

namespace halidegym {

// Throws InvalidParameter if a call is about a stage, a loop or an argument that the problem has not: then it was made
// for another one.
void check_directives(const Problem &problem, std::span<const StageDirectives> stages);

}  // namespace halidegym
