#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "state/decision.h"

// Of a state with more legal decisions than there is room for, an evenly spread part is shown, the first one included.
namespace halidegym {

// The index among all `total` decisions of the k-th of `count` shown ones.
constexpr size_t spread_index(size_t k, size_t count, size_t total) {
    return k * total / count;
}

// At most so many of the decisions. The result takes over the memory of `spare`.
inline std::vector<Decision> evenly_spread(std::span<const Decision> decisions, size_t most,
                                           std::vector<Decision> spare = {}) {
    const size_t count = std::min(decisions.size(), most);
    spare.assign(decisions.begin(), decisions.begin() + static_cast<std::ptrdiff_t>(count));
    if (count < decisions.size()) {
        for (size_t k = 0; k < count; k++) {
            spare[k] = decisions[spread_index(k, count, decisions.size())];
        }
    }
    return spare;
}

}  // namespace halidegym
