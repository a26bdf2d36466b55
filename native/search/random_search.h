#pragma once

#include <random>

#include "problem/error.h"
#include "search/search_result.h"
#include "search/search_space.h"

namespace halidegym {

// A uniformly random decision at every step, until the state is complete. Only the chosen children are built. Empty if
// it runs into a state without legal decisions.
template <SearchSpace S, typename Random>
std::optional<Solution<typename S::State>> random_rollout(S &space, typename S::State state, Random &random) {
    std::vector<uint32_t> actions;
    while (!space.is_complete(state)) {
        auto children = space.children(state);
        const auto decisions = children.decisions();
        if (decisions.empty()) {
            return std::nullopt;
        }
        std::uniform_int_distribution<size_t> uniform(0, decisions.size() - 1);
        const size_t action = decisions.size() > 1 ? uniform(random) : 0;
        actions.push_back(static_cast<uint32_t>(action));
        state = children.child(decisions[action]);
    }
    const auto cost = space.cost(state);
    if (!cost) {
        return std::nullopt;
    }
    return Solution<typename S::State>{std::move(state), *cost, std::move(actions)};
}

// The best of many random complete states, until the budget is used up.
template <SearchSpace S>
SearchResult<typename S::State> random_search(S &space, uint32_t seed, const Budget &budget) {
    SearchRecord<typename S::State> record(budget);
    std::mt19937_64 random(seed);
    for (int round = 0; record.may_continue(round, 0) || record.result.solutions.empty(); round++) {
        if (round >= 1000 && record.result.solutions.empty()) {
            throw SearchExhausted("1000 random schedules in a row ended in a state without legal decisions; "
                                  "a larger memory_limit allows more of them");
        }
        if (auto found = random_rollout(space, space.root(), random)) {
            record.result.evaluations++;
            record.add(std::move(*found));
        }
    }
    return record.finish();
}

}  // namespace halidegym
