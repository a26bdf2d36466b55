#pragma once

#include <Halide.h>

#include <span>

#include "nest/directives.h"
#include "problem/problem.h"

namespace halidegym {

// Makes the scheduling calls on a pipeline (docs/specification/search-space.md, section 13). It may be another copy of
// the one that the problem was made from, in which Funcs and reduction domains have other unique names ("f$1" for "f"):
// Funcs are identified by their position and loops by theirs. Throws InvalidParameter, before the first call, if the
// pipeline is another one or has been scheduled already, and Halide::Error if Halide refuses a call; the calls made
// until then stay in effect.
void apply_schedule(const Problem &problem, std::span<const StageDirectives> stages, Halide::Pipeline pipeline);

}  // namespace halidegym
