#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "search/simulation.h"

namespace halidegym {

// What a state's decisions are worth: the cost of the complete schedule that the space's own draws make of each child,
// and infinity where they come to a dead end. All children are completed with the same random numbers. `pause` is
// called before each of them, and may throw.
template <SearchSpace S>
std::vector<double> completion_costs(S &space, const typename S::State &state,
                                     std::span<const typename S::Decision> decisions, uint64_t seed,
                                     const std::function<void()> &pause) {
    std::vector<double> costs;
    for (const auto &decision : decisions) {
        pause();
        const auto completion = simulate(space, space.apply(state, decision), SplitMix64(seed), {},
                                         std::span<const typename S::Decision>(), [](const auto &) { return true; });
        const auto cost = completion.end ? space.cost(*completion.end) : std::nullopt;
        costs.push_back(cost.value_or(std::numeric_limits<double>::infinity()));
    }
    return costs;
}

}  // namespace halidegym
