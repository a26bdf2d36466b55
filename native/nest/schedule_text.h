#pragma once

#include <span>
#include <string>

#include "nest/directives.h"
#include "problem/problem.h"

namespace halidegym {

// The schedule as C++ source, character for character as the plugin prints it (docs/specification/search-space.md,
// section 13.7).
std::string schedule_source(const Problem &problem, std::span<const StageDirectives> stages);

// The same calls as Python statements, for a module in which `pipeline` is the hl.Pipeline to schedule. Funcs and loops
// are named like in the C++ source, made valid and distinct as Python identifiers.
std::string python_source(const Problem &problem, std::span<const StageDirectives> stages);

}  // namespace halidegym
