#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "search/decided_path.h"
#include "search/parameters.h"
#include "search/search_result.h"
#include "search/simulation.h"
#include "search/spaces/optional_hooks.h"

namespace halidegym {

struct RolloutSearchOptions {
    // How many that come to different states; empty: until the budget is used up.
    std::optional<int64_t> rollouts = std::nullopt;
    // The first ones repeat nothing; those after them take the decisions of the best one so far, but for so many steps
    // on average. Infinity: none repeats anything.
    int64_t free_rollouts = 16;
    double deviations = std::numeric_limits<double>::infinity();
    // After so many of them without a better one, it begins again with a free one, and keeps the best of all.
    std::optional<int64_t> patience = std::nullopt;
    uint32_t seed = 0;
};

inline void check(const RolloutSearchOptions &options) {
    require_at_least("rollouts", options.rollouts.value_or(1), int64_t{1});
    require_at_least("free_rollouts", options.free_rollouts, int64_t{1});
    require_positive("deviations", options.deviations);
    require_at_least("patience", options.patience.value_or(1), 1);
}

// The best of many complete states whose decisions are drawn, or repeated from the best one so far: a tree search
// without the tree, for spaces whose draws are good by themselves. One that comes again counts as nothing: near the
// best one, that is a third of the first few hundred. After a thousand of these in a row, nothing new is expected.
template <SearchSpace S>
SearchResult<typename S::State> rollout_search(S &space, const RolloutSearchOptions &options, const Budget &budget) {
    const bool is_limited =
        budget.seconds < std::numeric_limits<double>::infinity() || budget.evaluations != Budget::unlimited;
    require(options.rollouts || is_limited,
            "these rollouts have no end of their own, and expand no state; give a number of rollouts, or a budget of "
            "seconds or evaluations");
    SearchRecord<typename S::State, DecidedPath<typename S::Decision>> record(budget);
    auto &result = record.result;
    const auto root = space.root();
    std::vector<typename S::Decision> lead;  // the best one since it began again
    double least = std::numeric_limits<double>::infinity();
    int64_t began = 0;
    int64_t improved = 0;
    SeenPaths<S> seen;  // to their ends
    int64_t repeats = 0;
    int64_t repeats_in_a_row = 0;
    const int64_t rollouts = options.rollouts.value_or(Budget::unlimited);
    for (int64_t rollout = 0; rollout - repeats < rollouts || !record.has_found(); rollout++) {
        if (record.has_found() &&
            (repeats_in_a_row >= 1000 || !record.may_continue(static_cast<int>(rollout - repeats), 0))) {
            break;
        }
        if (rollout >= 1000 && !record.has_found()) {
            throw exhausted<S>("1000 random walks in a row ended in no acceptable complete state");
        }
        const SimulationPolicy policy{.deviations = rollout < options.free_rollouts
                                                        ? std::numeric_limits<double>::infinity()
                                                        : options.deviations};
        auto simulation =
            simulate(space, root, SplitMix64(split_seed(options.seed, static_cast<uint64_t>(rollout))), policy,
                     std::span<const typename S::Decision>(lead), [](const auto &) { return true; });
        result.evaluations += simulation.evaluations;
        result.forwards += simulation.forwards;
        const bool is_repeat = simulation.end && !seen.insert(space, simulation.decisions);
        repeats += is_repeat ? 1 : 0;
        repeats_in_a_row = is_repeat ? repeats_in_a_row + 1 : 0;
        std::optional<double> cost;
        if (simulation.end && !is_repeat) {
            result.evaluations++;
            cost = space.cost(*simulation.end);
        }
        if (cost && record.would_keep(*cost)) {
            record.add({*cost, simulation.decisions});
        }
        if (cost && *cost < least) {
            least = *cost;
            lead = std::move(simulation.decisions);
            improved = rollout;
        } else if (options.patience &&
                   rollout - std::max(improved, began + options.free_rollouts) >= *options.patience) {
            least = std::numeric_limits<double>::infinity();
            lead.clear();
            began = improved = rollout + 1;
        }
    }
    return record.finish([&](const auto &found) { return solution_of<S>(space, found); });
}

}  // namespace halidegym
