#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "search/simulation.h"
#include "search/spaces/search_space.h"
#include "search/spaces/walk.h"
#include "search/tree/gumbel_root.h"
#include "search/tree/leads.h"
#include "search/tree/tree_nodes.h"
#include "search/tree/tree_policy.h"
#include "search/tree/untried.h"

namespace halidegym {

struct TreeOptions {
    TreePolicy policy;
    SimulationPolicy simulation;
    // A node visited v times has at most ceil(v ^ widening) children; 1 and more: every decision is tried once before
    // any child is looked into (ProTuner).
    double widening = 1;
    uint32_t max_nodes = 1 << 20;
    uint64_t seed = 0;
};

// One tree of Monte Carlo tree search over complete states (Haj-Ali et al. 2020, ProTuner, sections 2.4 and 4).
//
// An iteration selects a node from the root down, expands it by one random new child, simulates to a complete state
// and hands the cost back to all nodes on the way. It comes in two halves, so that the costs of several trees can be
// asked for together.
//
// Nodes hold no states: these are built again on the way down, which costs no more than the steps that the simulation
// is spared. The way to the best complete state is remembered; when the root moves elsewhere, the simulation of the
// best one there is repeated from its number. What is exhausted, all its complete states being known, is not entered
// again. When there is no room for more nodes, simulations go on from those that there are.
//
// Simulations that replay follow the best complete state that was known when they began, of this tree or handed over
// when the root moved.
template <SearchSpace S>
class SearchTree {
public:
    using State = typename S::State;
    using Decision = typename S::Decision;
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    // The first half of an iteration: where its simulation began, and how it went.
    struct Iteration {
        uint32_t leaf;
        uint64_t number;
        Simulation<State, Decision> simulation;
    };
    struct Best {
        double cost;
        std::vector<Decision> decisions;  // from the root of the tree
    };
    struct RootChild {
        Decision decision;
        NodeStatistics statistics;
    };

    // `root` must be a state with a choice, or complete.
    SearchTree(const TreeOptions &options, State root)
        : options_(options), root_state_(std::move(root)), nodes_(options.max_nodes) {}

    // How much memory a node takes.
    static constexpr size_t node_bytes() { return sizeof(Node); }

    bool is_exhausted() const { return nodes_[nodes_.root()].exhausted; }
    bool is_greedy() const { return options_.simulation.greedy_probability >= 1; }
    uint32_t num_nodes() const { return nodes_.size(); }
    double best_cost() const { return nodes_[nodes_.root()].statistics.best_cost; }
    int64_t num_iterations() const { return static_cast<int64_t>(num_iterations_); }
    int64_t evaluations() const { return evaluations_; }
    int64_t expansions() const { return expansions_; }
    int64_t forwards() const { return forwards_; }

    template <typename KeepGoing>
    Iteration begin_iteration(S &space, const KeepGoing &keep_going);
    // The second half, unless the simulation was abandoned; no cost if it met no acceptable state.
    void finish_iteration(S &space, const Iteration &iteration, std::optional<double> cost);

    // The best complete state below the root, if there is any yet; of several, the one that was found first.
    std::optional<Best> best(S &space);
    std::vector<RootChild> root_children() const;
    // From now on only so many decisions of the root are tried, drawn from the preferences of the space.
    void begin_halving(S &space, size_t num_candidates);
    // Only the better half of them from now on.
    void halve();
    const GumbelRoot<Decision> &candidates() const { return candidates_; }
    // The root moves down along one of its decisions, to a state with a choice or a complete one. What is below it is
    // kept, the rest is forgotten. `lead` are the decisions that lead on to a complete state of the cost to beat, if
    // any.
    void move_root(const Walk<S> &walk, bool is_complete, double cost_to_beat, const std::vector<Decision> &lead);
    // From now on simulations follow a complete state of this cost until there is a better one.
    void follow(const std::vector<Decision> &lead, double cost) { leads_.follow(num_iterations_ + 1, lead, cost); }

private:
    using Node = TreeNode<Decision>;
    static constexpr uint32_t none = Node::none;

    void follow_best(S &space);
    Walk<S> walk_to(S &space, uint32_t node) const;
    void count(const Simulation<State, Decision> &simulation);
    void remember(double cost, std::vector<Decision> decisions, const Simulation<State, Decision> &simulation);
    bool is_expandable(const Node &node) const;
    std::pair<uint32_t, State> enter_child(S &space, uint32_t parent, int depth, State state);
    std::pair<uint32_t, State> enter_preferred(S &space, uint32_t parent, int depth, State state);
    std::pair<uint32_t, State> enter_candidate(S &space, State state);
    void find_untried(uint32_t parent, const std::vector<Preference<Decision>> &preferences);
    uint32_t select(uint32_t parent, int depth) const;
    double score(uint32_t child, double exploration) const {
        return options_.policy.score(nodes_[child].statistics, exploration, best_cost(), nodes_[child].prior);
    }
    void count_draws(S &space) {
        const DrawCosts costs = take_draw_costs(space);
        evaluations_ += costs.evaluations;
        forwards_ += costs.forwards;
    }
    std::pair<uint32_t, State> expand(S &space, uint32_t parent, State state);
    std::optional<Decision> draw_untried(S &space, uint32_t parent, typename S::Children &children);
    std::pair<uint32_t, State> add_child(S &space, uint32_t parent, const Decision &decision, State state,
                                         double prior = 1);
    Walk<S> descend(S &space, const State &state, const Node &child) const;
    SplitMix64 generator(uint64_t number) const { return SplitMix64(split_seed(options_.seed, number)); }

    TreeOptions options_;
    State root_state_;
    int num_moves_ = 0;  // of the root
    TreeNodes<Decision> nodes_;
    SplitMix64 random_{split_seed(options_.seed, 0)};
    uint64_t num_iterations_ = 0;
    int64_t evaluations_ = 0;
    int64_t expansions_ = 0;
    int64_t forwards_ = 0;
    Leads<Decision> leads_;
    std::optional<Best> best_;        // unless the root has moved away from it
    double cost_to_beat_ = infinity;  // best of the first root so far, or that of a later root when it became one
    Untried<S> untried_;              // of the node whose decisions were listed last
    GumbelRoot<Decision> candidates_;
};

template <SearchSpace S>
template <typename KeepGoing>
typename SearchTree<S>::Iteration SearchTree<S>::begin_iteration(S &space, const KeepGoing &keep_going) {
    if (options_.simulation.deviations < infinity) {
        follow_best(space);
    }
    uint32_t at = nodes_.root();
    State state = root_state_;
    size_t num_decided = 0;
    for (int depth = num_moves_; at == nodes_.root() || nodes_[at].statistics.visits > 0; depth++) {
        uint32_t child = none;
        std::tie(child, state) = enter_child(space, at, depth, std::move(state));
        if (child == none) {
            break;
        }
        at = child;
        num_decided += 1 + nodes_[at].num_forced;
    }
    count_draws(space);
    const uint64_t number = ++num_iterations_;
    auto simulation =
        simulate(space, std::move(state), generator(number), options_.simulation, leads_.of(number, num_decided),
                 [&](const auto &so_far) {
                     return keep_going(evaluations_ + so_far.evaluations, expansions_ + so_far.expansions);
                 });
    count(simulation);
    return {at, number, std::move(simulation)};
}

template <SearchSpace S>
void SearchTree<S>::count(const Simulation<State, Decision> &simulation) {
    evaluations_ += simulation.evaluations;
    expansions_ += simulation.expansions;
    forwards_ += simulation.forwards;
}

template <SearchSpace S>
void SearchTree<S>::finish_iteration(S &space, const Iteration &iteration, std::optional<double> cost) {
    if (iteration.simulation.needs_cost()) {
        evaluations_++;
    }
    if (cost) {
        options_.policy.require_fitting(*cost);
    }
    const bool success = cost && *cost < cost_to_beat_;
    if (success && num_moves_ == 0) {
        cost_to_beat_ = *cost;
    }
    if (cost && *cost < best_cost()) {
        remember(*cost, walk_to(space, iteration.leaf).decisions, iteration.simulation);
    }
    Node &leaf = nodes_[iteration.leaf];
    if (cost && *cost < leaf.own_best_cost) {
        leaf.own_best_cost = *cost;
        leaf.own_best = iteration.number;
    }
    for (uint32_t at = iteration.leaf; at != none; at = nodes_[at].parent) {
        nodes_[at].statistics.add(cost, success);
    }
    if (leaf.complete || (leaf.num_decisions == 0 && iteration.simulation.decisions.empty())) {
        nodes_.mark_exhausted(iteration.leaf);
    }
}

// From now on simulations follow the best state of this tree, if it is better than the one that they follow.
template <SearchSpace S>
void SearchTree<S>::follow_best(S &space) {
    if (best_cost() < leads_.cost()) {
        follow(best(space)->decisions, best_cost());
    }
}

template <SearchSpace S>
std::optional<typename SearchTree<S>::Best> SearchTree<S>::best(S &space) {
    const double cost = best_cost();
    if (cost == infinity) {
        return std::nullopt;
    }
    if (best_ && best_->cost == cost) {
        return best_;
    }
    uint32_t at = nodes_.root();
    while (nodes_[at].own_best_cost != cost) {
        at = nodes_[at].first_child;
        while (nodes_[at].statistics.best_cost != cost) {
            at = nodes_[at].next_sibling;
        }
    }
    Walk<S> walk = walk_to(space, at);
    const uint64_t number = nodes_[at].own_best;
    const auto simulation = simulate(space, std::move(walk.state), generator(number), options_.simulation,
                                     leads_.of(number, walk.decisions.size()), [](const auto &) { return true; });
    count(simulation);
    remember(cost, std::move(walk.decisions), simulation);
    return best_;
}

// The complete state that a simulation reached, `decisions` after the root, is the best one.
template <SearchSpace S>
void SearchTree<S>::remember(double cost, std::vector<Decision> decisions,
                             const Simulation<State, Decision> &simulation) {
    decisions.insert(decisions.end(), simulation.decisions.begin(), simulation.decisions.end());
    best_ = Best{cost, std::move(decisions)};
}

// From the root.
template <SearchSpace S>
Walk<S> SearchTree<S>::walk_to(S &space, uint32_t node) const {
    std::vector<uint32_t> path;
    for (uint32_t at = node; at != nodes_.root(); at = nodes_[at].parent) {
        path.push_back(at);
    }
    Walk<S> walk{root_state_, {}};
    for (; !path.empty(); path.pop_back()) {
        Walk<S> step = descend(space, walk.state, nodes_[path.back()]);
        walk.decisions.insert(walk.decisions.end(), step.decisions.begin(), step.decisions.end());
        walk.state = std::move(step.state);
    }
    return walk;
}

template <SearchSpace S>
std::vector<typename SearchTree<S>::RootChild> SearchTree<S>::root_children() const {
    std::vector<RootChild> result;
    for (uint32_t child = nodes_[nodes_.root()].first_child; child != none; child = nodes_[child].next_sibling) {
        result.push_back({nodes_[child].decision, nodes_[child].statistics});
    }
    return result;
}

template <SearchSpace S>
void SearchTree<S>::move_root(const Walk<S> &walk, bool is_complete, double cost_to_beat,
                              const std::vector<Decision> &lead) {
    Node fresh;
    fresh.complete = fresh.exhausted = is_complete;
    nodes_.move_root(nodes_.find_child(nodes_.root(), walk.decisions.front()), fresh);
    root_state_ = walk.state;
    num_moves_++;
    cost_to_beat_ = cost_to_beat;
    leads_.move_root(walk.decisions.size());
    if (best_) {
        const auto end = std::ranges::mismatch(best_->decisions, walk.decisions);
        if (end.in2 == walk.decisions.end()) {
            best_->decisions.erase(best_->decisions.begin(), end.in1);
        } else {
            best_.reset();
        }
    }
    follow(lead, lead.empty() ? infinity : cost_to_beat);
    untried_ = {};
    candidates_ = {};
}

template <SearchSpace S>
void SearchTree<S>::begin_halving(S &space, size_t num_candidates) {
    if (!is_exhausted()) {
        const auto preferences = preferences_of(space, root_state_);
        count_draws(space);
        find_untried(nodes_.root(), preferences);
        candidates_ = GumbelRoot<Decision>(preferences, num_candidates,
                                           SplitMix64(split_seed(~options_.seed, static_cast<uint64_t>(num_moves_))));
    }
}

template <SearchSpace S>
void SearchTree<S>::halve() {
    TreePolicy relative = options_.policy;
    relative.normalized = true;
    candidates_.halve([&](const Decision &decision) -> typename GumbelRoot<Decision>::Outcome {
        const uint32_t child = nodes_.find_child(nodes_.root(), decision);
        if (child == none || nodes_[child].statistics.outcomes == 0) {
            return {};
        }
        const NodeStatistics &statistics = nodes_[child].statistics;
        return {statistics.visits, relative.value_of(statistics, best_cost())};
    });
}

}  // namespace halidegym
