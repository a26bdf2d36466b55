#pragma once

#include <Halide.h>

#include <span>

#include "nest/directives.h"
#include "problem/problem.h"

namespace halidegym {

// Makes the scheduling calls on a pipeline (docs/specification/search-space.md, section 13): on `original`, from which
// the problem was made, or on another one that is built in the same way, whatever its Funcs and loops are called
// (`match_funcs`). Throws InvalidParameter, before the first call, if the pipeline is a different one or has been
// scheduled already, and Halide::Error if Halide refuses a call; the calls made until then stay in effect.
void apply_schedule(const Problem &problem, std::span<const StageDirectives> stages, const Halide::Pipeline &original,
                    Halide::Pipeline pipeline);

}  // namespace halidegym
