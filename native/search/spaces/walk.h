#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "search/spaces/optional_hooks.h"
#include "search/spaces/search_space.h"

// Ways through a space from a state on.
namespace halidegym {

// A state, and the decisions that led to it.
template <SearchSpace S>
struct Walk {
    typename S::State state;
    std::vector<typename S::Decision> decisions;
};

// As long as there is exactly one decision.
template <SearchSpace S>
Walk<S> follow_forced(S &space, typename S::State start) {
    Walk<S> walk{std::move(start), {}};
    while (!space.is_complete(walk.state)) {
        auto step = forced_step(space, walk.state);
        if (!step) {
            break;
        }
        walk.decisions.push_back(std::move(step->first));
        walk.state = std::move(step->second);
    }
    return walk;
}

// Where decisions lead, and which of the legal ones they are.
template <SearchSpace S>
struct Trace {
    typename S::State end;
    std::vector<uint32_t> actions;
    int num_choices = 0;  // decisions that had an alternative
};

// Lists the legal decisions at each step, which a rollout need not, so it is asked only of what is kept in the end.
template <SearchSpace S>
Trace<S> trace(S &space, typename S::State start, std::span<const typename S::Decision> decisions) {
    Trace<S> trace{std::move(start), {}};
    for (const auto &decision : decisions) {
        auto children = children_to_rate(space, trace.end);
        const auto legal = children.decisions();
        trace.actions.push_back(static_cast<uint32_t>(std::find(legal.begin(), legal.end(), decision) - legal.begin()));
        trace.num_choices += legal.size() > 1 ? 1 : 0;
        trace.end = lasting_child(space, trace.end, children, decision);
    }
    return trace;
}

// The decisions with these places among the legal ones.
template <SearchSpace S>
std::vector<typename S::Decision> decisions_of(S &space, typename S::State start, std::span<const uint32_t> actions) {
    std::vector<typename S::Decision> decisions;
    for (const uint32_t action : actions) {
        auto children = space.children(start);
        decisions.push_back(children.decisions()[action]);
        start = children.child(decisions.back());
    }
    return decisions;
}

}  // namespace halidegym
