#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "search/expansion_memo.h"
#include "search/search_result.h"
#include "search/spaces/search_space.h"

// What the searches with a queue have in common: what they put into it, and the states that they take off it.
namespace halidegym {

// A state that was taken off a queue, with the way to it.
template <typename State>
struct Visited {
    State state;
    std::shared_ptr<const Visited> parent;
    Way way;
    uint32_t action;
    int depth;
    double cost;        // penalties included
    double model_cost;  // as the space gave it
};

template <typename State>
using VisitedRef = std::shared_ptr<const Visited<State>>;

template <typename State>
VisitedRef<State> visit_root(State root) {
    return std::make_shared<const Visited<State>>(Visited<State>{std::move(root), nullptr, root_way, 0, 0, 0, 0});
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
QueuedChild<S> queued_child(const RatedChild<S> &child, const Visited<typename S::State> &parent) {
    return {child.decision, child.action, child.inherits ? parent.cost : child.cost, child.cost};
}

template <SearchSpace S>
VisitedRef<typename S::State> visit(const VisitedRef<typename S::State> &parent, const QueuedChild<S> &child,
                                    typename S::State state, Way way) {
    using State = typename S::State;
    return std::make_shared<const Visited<State>>(
        Visited<State>{std::move(state), parent, way, child.action, parent->depth + 1, child.cost, child.model_cost});
}

}  // namespace halidegym
