#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "search/search_result.h"
#include "search/spaces/search_space.h"

// What the searches with a queue have in common: the states that they take off it, and how these are expanded.
namespace halidegym {

// A state that was taken off a queue, with the way to it.
template <typename State>
struct Visited {
    State state;
    std::shared_ptr<const Visited> parent;
    uint32_t action;
    int depth;
    double cost;        // penalties included
    double model_cost;  // as the space gave it
};

template <typename State>
using VisitedRef = std::shared_ptr<const Visited<State>>;

template <typename State>
VisitedRef<State> visit_root(State root) {
    return std::make_shared<const Visited<State>>(Visited<State>{std::move(root), nullptr, 0, 0, 0, 0});
}

template <typename State>
Solution<State> solution_of(const VisitedRef<State> &visited) {
    std::vector<uint32_t> actions;
    for (const Visited<State> *at = visited.get(); at->parent; at = at->parent.get()) {
        actions.push_back(at->action);
    }
    std::reverse(actions.begin(), actions.end());
    return {visited->state, visited->model_cost, std::move(actions)};
}

// A child in a queue. Its state is built again when it is taken off, so that hundred thousands fit.
template <SearchSpace S>
struct QueuedChild {
    typename S::Decision decision;
    uint32_t action;
    double cost;
    double model_cost;
    bool penalized = false;
};

template <SearchSpace S>
auto cost_of_child(S &space, typename S::Children &children, const typename S::Decision &decision) {
    if constexpr (requires { space.cost_of_child(children, decision); }) {
        return space.cost_of_child(children, decision);
    } else {
        return space.cost(children.child(decision));
    }
}

// Hands the acceptable children of a state to `use`, each with whether its cost is its parent's. Counts the expansion,
// and the costs that the space was asked for.
template <SearchSpace S, typename Use>
void expand(S &space, const Visited<typename S::State> &visited, SearchResult<typename S::State> &counts,
            const Use &use) {
    counts.expansions++;
    auto children = space.children(visited.state);
    uint32_t action = 0;
    for (const auto &decision : children.decisions()) {
        const bool inherits = space.inherits_cost(decision);
        const auto cost = inherits ? std::optional(visited.model_cost) : cost_of_child(space, children, decision);
        if (cost) {
            counts.evaluations += inherits ? 0 : 1;
            use(QueuedChild<S>{decision, action, inherits ? visited.cost : *cost, *cost}, inherits);
        }
        action++;
    }
}

template <SearchSpace S>
VisitedRef<typename S::State> visit(const VisitedRef<typename S::State> &parent, const QueuedChild<S> &child,
                                    typename S::State state) {
    using State = typename S::State;
    return std::make_shared<const Visited<State>>(
        Visited<State>{std::move(state), parent, child.action, parent->depth + 1, child.cost, child.model_cost});
}

}  // namespace halidegym
