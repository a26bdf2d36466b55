#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "problem/error.h"
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

// A space in Python may not say the same of a state whenever it is asked. Searches that rely on it find that out here.
inline InvalidParameter changed_answer(const std::string &what, const std::string &remedy) {
    return InvalidParameter("the search space does not say the same of a state as before: " + what + "; " + remedy);
}

// Where a decision that was taken stands among the legal ones of its state.
template <typename Decision>
uint32_t place_of(const Decision &decision, std::span<const Decision> legal) {
    const auto found = std::find(legal.begin(), legal.end(), decision);
    if (found == legal.end()) {
        throw changed_answer("a decision that was taken equals none of its decisions",
                             "let decisions() always list equal decisions, which need an __eq__ if they are objects");
    }
    return static_cast<uint32_t>(found - legal.begin());
}

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
        trace.actions.push_back(place_of<typename S::Decision>(decision, legal));
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
        const auto legal = children.decisions();
        if (action >= legal.size()) {
            throw changed_answer("it has fewer decisions", "let decisions() always list the same");
        }
        decisions.push_back(legal[action]);
        start = children.child(decisions.back());
    }
    return decisions;
}

}  // namespace halidegym
