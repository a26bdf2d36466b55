#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "search/simulation.h"
#include "search/spaces/walk.h"
#include "search/tree/search_tree.h"

// How a search tree goes down by one step: into a child that it has, or into a new one.
namespace halidegym {

template <SearchSpace S>
bool SearchTree<S>::is_expandable(const Node &node) const {
    if (node.complete || nodes_.is_full() || (node.num_decisions > 0 && node.num_children == node.num_decisions)) {
        return false;
    }
    return options_.widening >= 1 || node.num_children == node.num_exhausted ||
           node.num_children < std::ceil(std::pow(node.statistics.visits, options_.widening));
}

// A child to look into, new or not, and its state; none if there is none, with the state of the parent.
template <SearchSpace S>
std::pair<uint32_t, typename S::State> SearchTree<S>::enter_child(S &space, uint32_t parent, int depth, State state) {
    uint32_t child = none;
    if (parent == nodes_.root() && !candidates_.candidates().empty()) {
        std::tie(child, state) = enter_candidate(space, std::move(state));
        if (child != none) {
            return {child, std::move(state)};
        }
    }
    if (options_.policy.bonus == TreePolicy::Bonus::Prior) {
        return enter_preferred(space, parent, depth, std::move(state));
    }
    if (is_expandable(nodes_[parent])) {
        std::tie(child, state) = expand(space, parent, std::move(state));
    }
    if (child == none && (child = select(parent, depth)) != none) {
        state = descend(space, state, nodes_[child]).state;
    }
    return {child, std::move(state)};
}

// The next of the root's candidates; none if all of them are exhausted.
template <SearchSpace S>
std::pair<uint32_t, typename S::State> SearchTree<S>::enter_candidate(S &space, State state) {
    const auto *candidate = candidates_.next([&](const Decision &decision) {
        const uint32_t child = nodes_.find_child(nodes_.root(), decision);
        return child == none ? nodes_.is_full() : nodes_[child].exhausted;
    });
    if (!candidate) {
        return {none, std::move(state)};
    }
    const uint32_t child = nodes_.find_child(nodes_.root(), candidate->decision);
    if (child != none) {
        return {child, descend(space, state, nodes_[child]).state};
    }
    return add_child(space, nodes_.root(), candidate->decision, space.apply(state, candidate->decision),
                     std::exp(candidate->log_probability));
}

// By PUCT: a child, or the likeliest of the decisions that were not tried yet.
template <SearchSpace S>
std::pair<uint32_t, typename S::State> SearchTree<S>::enter_preferred(S &space, uint32_t parent, int depth,
                                                                      State state) {
    if (nodes_[parent].num_decisions == 0) {
        find_untried(parent, preferences_of(space, state));
    }
    const uint32_t child = select(parent, depth);
    const Node &node = nodes_[parent];
    const double exploration = options_.policy.exploration_at(node.statistics, depth);
    const bool is_untried_better =
        child == none || options_.policy.score_untried(node.statistics, exploration, best_cost(), node.untried_prior) >
                             score(child, exploration);
    if (node.untried < node.num_decisions && !nodes_.is_full() && is_untried_better) {
        const auto preferences = preferences_of(space, state);
        if (node.untried >= preferences.size()) {
            throw changed_answer("it has fewer decisions", "let decisions() always list the same");
        }
        const Decision decision = preferences[node.untried].decision;
        auto entered = add_child(space, parent, decision, space.apply(state, decision), node.untried_prior);
        find_untried(parent, preferences);
        return entered;
    }
    return {child, child == none ? std::move(state) : descend(space, state, nodes_[child]).state};
}

// Notes the likeliest decision that is not in the tree yet.
template <SearchSpace S>
void SearchTree<S>::find_untried(uint32_t parent, const std::vector<Preference<Decision>> &preferences) {
    Node &node = nodes_[parent];
    node.num_decisions = static_cast<uint32_t>(preferences.size());
    while (node.untried < node.num_decisions && nodes_.find_child(parent, preferences[node.untried].decision) != none) {
        node.untried++;
    }
    node.untried_prior = node.untried < node.num_decisions ? std::exp(preferences[node.untried].log_probability) : 0;
}

// The child of the best score among those that are not exhausted.
template <SearchSpace S>
uint32_t SearchTree<S>::select(uint32_t parent, int depth) const {
    const NodeStatistics &above = nodes_[parent].statistics;
    const double exploration = options_.policy.exploration_at(above, depth);
    uint32_t selected = none;
    double highest = -infinity;
    for (uint32_t child = nodes_[parent].first_child; child != none; child = nodes_[child].next_sibling) {
        const Node &node = nodes_[child];
        if (node.exhausted) {
            continue;
        }
        if (node.statistics.visits == 0) {
            return child;
        }
        const double child_score = score(child, exploration);
        if (selected == none || child_score > highest) {
            selected = child;
            highest = child_score;
        }
    }
    return selected;
}

// Adds a random new child, or of several the one that the model rates best: drawn until there is a new one, or, if that
// is not likely, from a list of the untried ones.
template <SearchSpace S>
std::pair<uint32_t, typename S::State> SearchTree<S>::expand(S &space, uint32_t parent, State state) {
    const Node &node = nodes_[parent];
    if (node.num_decisions == 0 || 2 * node.num_children < node.num_decisions) {
        auto children = children_to_draw_from(space, state);
        const auto drawn = best_drawn(space, children, options_.simulation.draws,
                                      [&] { return draw_untried(space, parent, children); });
        evaluations_ += drawn.evaluations;
        if (drawn.decision) {
            return add_child(space, parent, *drawn.decision, children.child(*drawn.decision));
        }
    }
    if (!untried_.is_of(parent)) {
        untried_ = Untried<S>(parent, space.children(state));
        nodes_[parent].num_decisions = static_cast<uint32_t>(untried_.size());
    }
    while (const auto decision = untried_.draw(random_)) {
        if (nodes_.find_child(parent, *decision) == none) {
            return add_child(space, parent, *decision, untried_.child(*decision));
        }
    }
    if (node.num_exhausted == node.num_decisions) {
        nodes_.mark_exhausted(parent);
    }
    return {none, std::move(state)};
}

// A random decision that is not in the tree yet, unless a few draws found none.
template <SearchSpace S>
std::optional<typename S::Decision> SearchTree<S>::draw_untried(S &space, uint32_t parent,
                                                                typename S::Children &children) {
    choose_how_to_draw(space, random_);
    for (int attempt = 0; attempt < 4; attempt++) {
        const auto drawn = random_decision(space, children, random_);
        if (drawn && nodes_.find_child(parent, *drawn) == none) {
            return drawn;
        }
    }
    return std::nullopt;
}

template <SearchSpace S>
std::pair<uint32_t, typename S::State> SearchTree<S>::add_child(S &space, uint32_t parent, const Decision &decision,
                                                                State state, double prior) {
    auto forced = follow_forced(space, std::move(state));
    Node child;
    child.decision = decision;
    child.prior = prior;
    child.num_forced = static_cast<uint32_t>(forced.decisions.size());
    child.complete = space.is_complete(forced.state);
    const uint32_t index = nodes_.add_child(parent, child);
    expansions_++;
    return {index, std::move(forced.state)};
}

// Along the decision of a child and the forced ones after it.
template <SearchSpace S>
Walk<S> SearchTree<S>::descend(S &space, const State &state, const Node &child) const {
    Walk<S> walk{space.apply(state, child.decision), {child.decision}};
    for (uint32_t i = 0; i < child.num_forced; i++) {
        auto step = forced_step(space, walk.state);
        if (!step) {
            throw changed_answer("it has not one decision alone", "let decisions() always list the same");
        }
        walk.decisions.push_back(step->first);
        walk.state = std::move(step->second);
    }
    return walk;
}

}  // namespace halidegym
