#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "transform/closure.h"

namespace halidegym {

__extension__ using Count = unsigned __int128;

// Exact sizes of the space of a whole transform; empty beyond 128 bits.

// Complete plans.
std::optional<Count> count_plans(const StepClosure &closure);
// Plans, complete or not: the vertices of the graph of derivations in any order.
std::optional<Count> count_words(const StepClosure &closure);
// Derivations in any order: the leaves of the same space as a tree.
std::optional<Count> count_walks(const StepClosure &closure);

// The most steps that a plan of each problem has.
std::vector<int> max_depths(const StepClosure &closure);

}  // namespace halidegym
