#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "transform/problem.h"
#include "transform/steps.h"

namespace halidegym {

// How a codelet moves its columns: so many numbers of neighbouring columns at once, or so many of the same one, which
// it has transposed.
enum class AccessPattern : uint8_t { One, Two, Four, Transposed };
inline constexpr size_t num_access_patterns = 4;

// What a plan, or a part of one, costs: a run of it, and how it first reads and last writes.
struct PlanCost {
    double microseconds = 0;
    AccessPattern entry = AccessPattern::One, exit = AccessPattern::One;
};

// Run times without a clock: each codelet costs by its arithmetic and the ways it reaches memory, on whatever machine
// this is. Sums over the codelets of a plan, but for the `context`: numbers that the second half of a split reads in
// another pattern than the first half has just stored them, or that are more than the first cache holds, cost that many
// nanoseconds more. So what is best for a part depends on what follows it.
class TransformModel {
public:
    // Throws InvalidParameter.
    explicit TransformModel(double context = 0);

    double context() const { return context_; }

    // A run of a step, from those of what it leaves.
    PlanCost combine(const TransformProblem &problem, const TransformStep &step, std::span<const int32_t> runs,
                     std::span<const PlanCost> subs) const;

private:
    double context_;
};

// Of all columns, without the context.
double codelet_microseconds(const TransformProblem &problem, int lanes);

}  // namespace halidegym
