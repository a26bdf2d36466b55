#pragma once

#include <cstdint>
#include <optional>

#include "search/spaces/optional_hooks.h"
#include "search/spaces/search_space.h"

namespace halidegym {

// A decision that was drawn, if there is one, and how many children were rated for that.
template <SearchSpace S>
struct Drawn {
    std::optional<typename S::Decision> decision;
    int64_t evaluations = 0;
};

// Of several draws, each of a decision or of nothing, the one whose child the model rates best; one alone is not rated.
template <SearchSpace S, typename Draw>
Drawn<S> best_drawn(S &space, typename S::Children &children, int draws, const Draw &draw) {
    Drawn<S> best{draw()};
    const auto rate = [&](const auto &decision) {
        best.evaluations++;
        return cost_of_child(space, children, decision);
    };
    std::optional<double> least;
    for (int i = 1; i < draws; i++) {
        const auto other = draw();
        if (!other || other == best.decision) {
            continue;
        }
        if (best.decision && best.evaluations == 0) {
            least = rate(*best.decision);
        }
        const auto cost = rate(*other);
        if (!best.decision || (cost && (!least || *cost < *least))) {
            best.decision = other;
            least = cost;
        }
    }
    return best;
}

}  // namespace halidegym
