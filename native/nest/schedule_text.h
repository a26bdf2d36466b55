#pragma once

#include <span>
#include <string>

#include "nest/directives.h"
#include "problem/problem.h"

namespace halidegym {

// The schedule as C++ source, character for character as the plugin prints it (docs/specification/search-space.md,
// section 13.7).
std::string schedule_source(const Problem &problem, std::span<const StageDirectives> stages);

// The same calls as C++ statements for a function whose parameter `pipeline` is the Halide::Pipeline to schedule, after
// `using namespace Halide`. Funcs and loops are named like in the source above, made valid and distinct as identifiers.
std::string cpp_statements(const Problem &problem, std::span<const StageDirectives> stages);

// The same calls as Python statements, for a module in which `pipeline` is the hl.Pipeline to schedule. Names
// likewise.
std::string python_source(const Problem &problem, std::span<const StageDirectives> stages);

}  // namespace halidegym
