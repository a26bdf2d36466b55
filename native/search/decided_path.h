#pragma once

#include <utility>
#include <vector>

#include "search/search_result.h"
#include "search/spaces/walk.h"

namespace halidegym {

// A complete state that a search has found, by the decisions that lead to it from the first state. Their places among
// the legal ones take longer to find than the state itself, so they are asked for when the search is over, of what it
// has kept.
template <typename Decision>
struct DecidedPath {
    double cost;
    std::vector<Decision> decisions;

    const std::vector<Decision> &way() const { return decisions; }
};

template <SearchSpace S>
Solution<typename S::State> solution_of(S &space, const DecidedPath<typename S::Decision> &path) {
    auto [end, actions, _] = trace<S>(space, space.root(), path.decisions);
    return {std::move(end), path.cost, std::move(actions)};
}

}  // namespace halidegym
