#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "search/spaces/search_space.h"
#include "search/spaces/walk.h"

namespace halidegym {

// A decision of a state, and its place among the legal ones.
template <typename Decision>
struct Move {
    uint32_t action;
    Decision decision;
};

// The way from the first state of a space to a complete one.
template <typename Decision>
struct CompletePath {
    double cost;
    std::vector<Decision> decisions;
    std::vector<uint32_t> actions;  // the places of the decisions among the legal ones
    int num_choices;                // decisions that had an alternative
};

// The state that all trees of an ensemble search from, which has a choice or is complete, and the way to it.
template <SearchSpace S>
class TreeRoot {
public:
    using State = typename S::State;
    using Decision = typename S::Decision;

    explicit TreeRoot(S &space) : state_(space.root()) { advance(follow_forced(space, state_)); }

    const State &state() const { return state_; }
    size_t depth() const { return decisions_.size(); }
    int num_moves() const { return num_moves_; }

    // On by decisions to a complete state of this cost.
    CompletePath<Decision> complete(S &space, std::span<const Decision> below, double cost) const {
        const Trace<S> trace = halidegym::trace<S>(space, state_, below);
        CompletePath<Decision> path{cost, decisions_, actions_, num_moves_ + trace.num_choices};
        path.decisions.insert(path.decisions.end(), below.begin(), below.end());
        path.actions.insert(path.actions.end(), trace.actions.begin(), trace.actions.end());
        return path;
    }

    // What is left of a way through the root, by decisions or by their places.
    template <typename Step>
    std::span<const Step> below(const std::vector<Step> &way) const {
        if (way.size() < depth()) {
            throw changed_answer("it is not complete, but was",
                                 "let is_complete() always say the same, and decisions() list the same");
        }
        return std::span(way).subspan(depth());
    }
    // Of a path through the root: its next move, how many decisions from here on have an alternative, and where they
    // end.
    Move<Decision> next(const CompletePath<Decision> &path) const {
        const auto decisions = below(path.decisions);
        if (decisions.empty()) {
            throw changed_answer("it is not complete, but was", "let is_complete() always say the same");
        }
        return {below(path.actions).front(), decisions.front()};
    }
    int num_choices(const CompletePath<Decision> &path) const { return path.num_choices - num_moves_; }
    State end(S &space, const CompletePath<Decision> &path) const {
        State end = state_;
        for (const Decision &decision : below(path.decisions)) {
            end = space.apply(end, decision);
        }
        return end;
    }

    // Along one of the root's decisions, and the forced ones after it.
    Walk<S> move(S &space, const Move<Decision> &move) {
        Walk<S> walk = follow_forced(space, space.apply(state_, move.decision));
        walk.decisions.insert(walk.decisions.begin(), move.decision);
        advance(walk);
        actions_[depth() - walk.decisions.size()] = move.action;
        num_moves_++;
        return walk;
    }

private:
    void advance(const Walk<S> &walk) {
        state_ = walk.state;
        decisions_.insert(decisions_.end(), walk.decisions.begin(), walk.decisions.end());
        actions_.resize(decisions_.size(), 0);
    }

    State state_;
    std::vector<Decision> decisions_;
    std::vector<uint32_t> actions_;
    int num_moves_ = 0;
};

}  // namespace halidegym
