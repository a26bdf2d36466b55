#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "search/tree/mcts_options.h"
#include "search/tree/tree_ensemble.h"
#include "search/tree/tree_root.h"

// What the trees of an ensemble are told and tell between two decisions, and some of them. All of it is data, so that
// trees may live in other processes than who decides.
namespace halidegym {

// What all trees are told: where to go, and how long to search there.
template <typename Decision>
struct TreeOrder {
    std::optional<Move<Decision>> move;  // of the root; none: it stays where it is, as for the first search
    std::vector<Decision> lead;          // from there to a complete state to follow, if there is any
    double cost;                         // of what decided on the move, or was known at first; the lead has it, too
    TreeLimits limits;
};

// A child of the root that may win, and what all simulations through it have told.
template <typename Decision>
struct Contender {
    Decision decision;
    uint32_t outcomes;
    double sum_cost;
    double best_cost;
};

// What one tree tells after a search.
template <typename Decision>
struct TreeReport {
    int tree;             // its number in the ensemble
    int64_t evaluations;  // in this search, as are the other counts
    int64_t expansions;
    int64_t forwards;
    bool is_exhausted;
    std::optional<CompletePath<Decision>> best;   // below the root, of all its searches
    std::vector<Contender<Decision>> contenders;  // where these decide, and not the best state
};

template <typename Decision>
struct TreeReports {
    std::vector<TreeReport<Decision>> trees;
    bool stopped;
};

// Asked now and then whether to go on with a search that has rated so many states.
using KeepSearching = std::function<bool(int64_t new_evaluations)>;

// Some trees of an ensemble: those whose number leaves the same remainder. Whoever holds the others, each tree finds
// the same.
template <SearchSpace S>
class TreeShare {
public:
    using Decision = typename S::Decision;

    TreeShare(const S &space, const MctsOptions &options, int remainder = 0, int divisor = 1);

    TreeReports<Decision> search(const TreeOrder<Decision> &order, const KeepSearching &keep_searching);

private:
    using Tree = SearchTree<S>;

    static int count(const MctsOptions &options, int remainder, int divisor) {
        return (options.trees - remainder + divisor - 1) / divisor;
    }
    void obey(const TreeOrder<Decision> &order);
    bool search_from_root(const TreeLimits &limits, const KeepSearching &keep_searching);
    void find_best();
    std::vector<Contender<Decision>> contenders(const Tree &tree) const;

    struct Counts {
        int64_t evaluations = 0;
        int64_t expansions = 0;
        int64_t forwards = 0;
    };

    const MctsOptions options_;
    const int remainder_;
    const int divisor_;
    S space_;
    TreeRoot<S> root_;
    TreeEnsemble<S> ensemble_;
    std::vector<std::optional<CompletePath<Decision>>> best_;  // of each tree
    std::vector<Counts> told_;                                 // of each tree so far
};

template <SearchSpace S>
TreeShare<S>::TreeShare(const S &space, const MctsOptions &options, int remainder, int divisor)
    : options_(options), remainder_(remainder), divisor_(divisor), space_(space), root_(space_),
      ensemble_(space, std::min(options.threads, count(options, remainder, divisor))),
      best_(static_cast<size_t>(count(options, remainder, divisor))), told_(best_.size()) {
    const int64_t nodes = options.tree_memory / options.trees / static_cast<int64_t>(Tree::node_bytes());
    ensemble_.trees().reserve(best_.size());
    for (int i = remainder; i < options.trees; i += divisor) {
        const bool greedy = i < options.greedy_trees;
        ensemble_.trees().emplace_back(
            TreeOptions{.policy = options.policy,
                        .simulation = greedy ? SimulationPolicy{.greedy_probability = 1}
                                             : SimulationPolicy{options.epsilon, options.deviations, options.draws},
                        .widening = options.widening,
                        .max_nodes = static_cast<uint32_t>(std::min<int64_t>(nodes, 1u << 31)),
                        .seed = split_seed(options.seed, static_cast<uint64_t>(i))},
            root_.state());
    }
}

template <SearchSpace S>
TreeReports<typename S::Decision> TreeShare<S>::search(const TreeOrder<Decision> &order,
                                                       const KeepSearching &keep_searching) {
    obey(order);
    TreeReports<Decision> reports{{}, !search_from_root(order.limits, keep_searching)};
    find_best();
    for (size_t i = 0; i < best_.size(); i++) {
        const Tree &tree = ensemble_.trees()[i];
        const Counts now{tree.evaluations(), tree.expansions(), tree.forwards()};
        const Counts before = std::exchange(told_[i], now);
        reports.trees.push_back({.tree = remainder_ + static_cast<int>(i) * divisor_,
                                 .evaluations = now.evaluations - before.evaluations,
                                 .expansions = now.expansions - before.expansions,
                                 .forwards = now.forwards - before.forwards,
                                 .is_exhausted = tree.is_exhausted(),
                                 .best = best_[i],
                                 .contenders = contenders(tree)});
    }
    return reports;
}

template <SearchSpace S>
void TreeShare<S>::obey(const TreeOrder<Decision> &order) {
    if (!order.move) {
        for (Tree &tree : ensemble_.trees()) {
            tree.follow(order.lead, order.cost);
        }
        return;
    }
    for (auto &best : best_) {
        if (best && root_.next(*best).action != order.move->action) {
            best.reset();
        }
    }
    const Walk<S> walk = root_.move(space_, *order.move);
    const bool is_complete = space_.is_complete(walk.state);
    for (Tree &tree : ensemble_.trees()) {
        tree.move_root(walk, is_complete, order.cost, order.lead);
    }
}

// All trees spend their budget for this decision; with candidates, an equal part of it between two halvings. False if
// they were stopped.
template <SearchSpace S>
bool TreeShare<S>::search_from_root(const TreeLimits &limits, const KeepSearching &keep_searching) {
    if (!options_.candidates) {
        return ensemble_.search(limits, keep_searching);
    }
    ensemble_.for_each_tree([&](S &space, size_t i) {
        ensemble_.trees()[i].begin_halving(space, static_cast<size_t>(*options_.candidates));
    });
    int rounds = 1;
    for (const Tree &tree : ensemble_.trees()) {
        rounds = std::max(rounds, tree.candidates().num_halvings());
    }
    rounds = static_cast<int>(std::min<int64_t>({rounds, limits.iterations, limits.evaluations, limits.expansions}));
    bool goes_on = true;
    for (int round = 0; round < rounds && goes_on; round++) {
        goes_on = ensemble_.search(limits.part(round, rounds), keep_searching);
        for (Tree &tree : ensemble_.trees()) {
            tree.halve();
        }
    }
    return goes_on;
}

template <SearchSpace S>
void TreeShare<S>::find_best() {
    ensemble_.for_each_tree([&](S &space, size_t i) {
        Tree &tree = ensemble_.trees()[i];
        if (!best_[i] || best_[i]->cost != tree.best_cost()) {
            const auto best = tree.best(space);
            best_[i] = best ? std::optional(root_.complete(space, best->decisions, best->cost)) : std::nullopt;
        }
    });
}

// Children that have led to a complete state, where somebody asks for them; with candidates, the one that is left.
template <SearchSpace S>
std::vector<Contender<typename S::Decision>> TreeShare<S>::contenders(const Tree &tree) const {
    std::vector<Contender<Decision>> contenders;
    if (options_.winner == MctsOptions::Winner::Best && !options_.tells_roots) {
        return contenders;
    }
    const auto &left = tree.candidates().candidates();
    for (const auto &[decision, statistics] : tree.root_children()) {
        const bool contends = options_.winner == MctsOptions::Winner::Candidate
                                  ? !left.empty() && left.front().decision == decision
                                  : statistics.outcomes > 0;
        if (contends) {
            contenders.push_back({decision, statistics.outcomes, statistics.sum_cost, statistics.best_cost});
        }
    }
    return contenders;
}

}  // namespace halidegym
