#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cost/nest_table.h"
#include "problem/problem.h"

namespace halidegym {

// Of a Func, into one loop body (docs/specification/search-space.md, section 7.4, test 2).
constexpr int64_t max_inlined_calls = 255;

// What keeps a nest from becoming a state.
enum class Limit : uint8_t {
    Recompute,  // a stage computes more than `max_recompute` times the fewest points possible
    CodeSize,   // a Func is inlined more than `max_inlined_calls` times into one loop body
    Memory,     // more working memory than the memory limit beyond the outputs
};

// The first of the limits that the reference sets to all schedules (docs/specification/schedule-features.md, section 8)
// which the nest exceeds, if any. Only these of its stages are asked how often they are recomputed. A negative memory
// limit, in bytes, stands for none.
std::optional<Limit> exceeded_limit(const Problem &problem, const NestTable &nest, std::span<const int> stages,
                                    int64_t memory_limit, double max_recompute);

}  // namespace halidegym
