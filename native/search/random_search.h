#pragma once

#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "search/decided_path.h"
#include "search/search_result.h"
#include "search/spaces/optional_hooks.h"
#include "search/spaces/search_space.h"

namespace halidegym {

// Random decisions until the state is complete, and what it costs.
template <SearchSpace S>
struct Rollout {
    std::vector<typename S::Decision> decisions;
    double cost;
};

// A uniformly random decision at every step. Empty if it runs into a state without legal decisions.
template <SearchSpace S, typename Random>
std::optional<Rollout<S>> random_rollout(S &space, typename S::State state, Random &random) {
    std::vector<typename S::Decision> decisions;
    start_walk(space, state);
    choose_how_to_draw(space, random);
    while (!space.is_complete(state)) {
        auto children = children_of_walk(space, state);
        const auto decision = random_decision(space, children, random);
        if (!decision) {
            return std::nullopt;
        }
        decisions.push_back(*decision);
        state = next_of_walk(space, std::move(state), children, *decision);
    }
    const auto cost = space.cost(state);
    return cost ? std::optional(Rollout<S>{std::move(decisions), *cost}) : std::nullopt;
}

struct RandomSearchOptions {
    uint32_t seed = 0;
};

inline void check(const RandomSearchOptions &) {}

// The best of many random complete states, until the budget is used up.
template <SearchSpace S>
SearchResult<typename S::State> random_search(S &space, const RandomSearchOptions &options, const Budget &budget) {
    SearchRecord<typename S::State, DecidedPath<typename S::Decision>> record(budget);
    std::mt19937_64 random(options.seed);
    for (int round = 0; record.may_continue(round, 0) || !record.has_found(); round++) {
        if (round >= 1000 && !record.has_found()) {
            throw exhausted<S>("1000 random walks in a row ended in no acceptable complete state");
        }
        if (auto found = random_rollout(space, space.root(), random)) {
            record.result.evaluations++;
            if (record.would_keep(found->cost)) {
                record.add({found->cost, std::move(found->decisions)});
            }
        }
    }
    return record.finish([&](const auto &found) { return solution_of<S>(space, found); });
}

}  // namespace halidegym
