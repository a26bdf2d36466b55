#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "state/state.h"

namespace halidegym {

// What decisions of one state say, in numbers, so that many can be compared at once.
struct DecisionSizes {
    static constexpr int num_codes = 4;
    static constexpr int num_tuples = 3;

    DecisionSizes(Expansion &expansion, std::span<const Decision> decisions);

    int loops = 0;               // as many as the longest tuple has entries
    std::vector<int32_t> codes;  // [decisions, 4]: kind; of a placement the stage of its level, -1 at the root, depth,
                                 // and the dimension that is vectorized; -2 for each of these that the kind has not
    std::vector<int64_t> sizes;  // [decisions, 3, loops]: outer tile, inner tile, tasks, innermost loop first; then 0
};

}  // namespace halidegym
