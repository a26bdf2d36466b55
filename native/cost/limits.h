#pragma once

#include <cstdint>

#include "cost/features.h"
#include "nest/level.h"
#include "problem/problem.h"

namespace halidegym {

// Whether a nest may become a state, or which limit it breaks first.
enum class Verdict : uint8_t {
    Accepted,
    Recompute,  // a stage computes more than eight times the fewest points possible
    CodeSize,   // a Func is inlined 256 times or more into one loop body
    Memory,     // more working memory than the memory limit beyond the outputs
};

// The limits that the reference sets to all schedules (docs/specification/schedule-features.md, section 8). `table`
// holds the features of the nest; a negative memory limit, in bytes, stands for none.
Verdict check_limits(const Problem &problem, const FeatureTable &table, const Level &root, int64_t memory_limit);

}  // namespace halidegym
