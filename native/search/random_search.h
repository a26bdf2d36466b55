#pragma once

#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "problem/error.h"
#include "search/search_result.h"
#include "search/spaces/optional_hooks.h"
#include "search/spaces/search_space.h"
#include "search/spaces/walk.h"

namespace halidegym {

// A complete state at the end of random decisions.
template <SearchSpace S>
struct Rollout {
    typename S::State end;
    double cost;
    std::vector<typename S::Decision> decisions;
};

// A uniformly random decision at every step, until the state is complete. Only the chosen children are built. Empty if
// it runs into a state without legal decisions.
template <SearchSpace S, typename Random>
std::optional<Rollout<S>> random_rollout(S &space, typename S::State state, Random &random) {
    std::vector<typename S::Decision> decisions;
    while (!space.is_complete(state)) {
        auto drawn = random_child(space, state, random);
        if (!drawn) {
            return std::nullopt;
        }
        decisions.push_back(std::move(drawn->first));
        state = std::move(drawn->second);
    }
    const auto cost = space.cost(state);
    if (!cost) {
        return std::nullopt;
    }
    return Rollout<S>{std::move(state), *cost, std::move(decisions)};
}

struct RandomSearchOptions {
    uint32_t seed = 0;
};

inline void check(const RandomSearchOptions &) {}

// The best of many random complete states, until the budget is used up.
template <SearchSpace S>
SearchResult<typename S::State> random_search(S &space, const RandomSearchOptions &options, const Budget &budget) {
    SearchRecord<typename S::State> record(budget);
    std::mt19937_64 random(options.seed);
    for (int round = 0; record.may_continue(round, 0) || record.result.solutions.empty(); round++) {
        if (round >= 1000 && record.result.solutions.empty()) {
            throw SearchExhausted("1000 random schedules in a row ended in a state without legal decisions; "
                                  "a larger memory_limit allows more of them");
        }
        if (auto found = random_rollout(space, space.root(), random)) {
            record.result.evaluations++;
            if (record.would_keep(found->cost)) {
                record.add(
                    {std::move(found->end), found->cost, trace<S>(space, space.root(), found->decisions).actions});
            }
        }
    }
    return record.finish();
}

}  // namespace halidegym
