#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "search/beam_search.h"
#include "search/search_result.h"
#include "search/spaces/optional_hooks.h"
#include "search/tree/mcts_options.h"
#include "search/tree/tree_root.h"
#include "search/tree/tree_share.h"

namespace halidegym {

// The decisions that have led from a root to complete states before it moved on, and the least cost of these.
struct TriedAtRoot {
    size_t depth = 0;               // of the root: decisions before it
    std::vector<uint32_t> actions;  // places among the legal decisions
    std::vector<double> costs;
};

template <typename State>
struct MctsResult : SearchResult<State> {
    // Per pass, the tree that found what decided; the greedy trees come first. -1: no tree, the search began with it.
    std::vector<int> deciding_trees;
    std::vector<TriedAtRoot> roots;  // per pass, if they are to be told
};

// Monte Carlo tree search with an ensemble of trees (Haj-Ali et al. 2020, ProTuner, Figure 6).
//
// Decision by decision, all trees search from the same root until their budget is spent. Then the best complete state
// of all trees decides, or the fastest if there is somebody to measure them, and every tree moves its root along.
template <SearchSpace S>
class Mcts {
public:
    using State = typename S::State;
    using Decision = typename S::Decision;
    // Run times of complete states in seconds, infinite where it failed; NaN where it was not measured.
    using Measure = std::function<std::vector<double>(const std::vector<Solution<State>> &)>;
    // Has all trees search, wherever they live, and returns their reports in the order of the trees; none of them if
    // they were stopped and cannot tell any more.
    using Trees = std::function<TreeReports<Decision>(const TreeOrder<Decision> &, const KeepSearching &)>;

    // Without `trees`, they live here.
    Mcts(const S &space, const MctsOptions &options, Budget budget, Measure measure = {}, Trees trees = {});

    // The result has one pass solution per decision that left a choice: the state that decided it.
    MctsResult<State> run();

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    // A complete state below the root.
    struct Found {
        CompletePath<Decision> path;
        State state;
        int tree;  // that found it; -1: none

        Solution<State> solution() const { return {state, path.cost, path.actions}; }
    };

    Found find_first();
    Found first_of_beam();
    Found first_simulated();
    Found found_below(const std::vector<Decision> &decisions, double cost);
    void count(int64_t evaluations, int64_t expansions, int64_t forwards);
    TreeLimits limits() const;
    bool may_go_on(int64_t new_evaluations);
    std::vector<Found> collect(const TreeReports<Decision> &reports);
    const Found *choose(const std::vector<Found> &found);
    Move<Decision> winner(const Found &chosen, const TreeReports<Decision> &reports);
    std::optional<Move<Decision>> best_average(const TreeReports<Decision> &reports);
    std::optional<Move<Decision>> last_candidate(const TreeReports<Decision> &reports);
    TriedAtRoot tried(const TreeReports<Decision> &reports);
    TreeOrder<Decision> move_root(const Move<Decision> &move, double cost);

    const MctsOptions options_;
    const Budget budget_;
    const Measure measure_;
    SearchRecord<State> record_;
    S space_;

    TreeRoot<S> root_;
    const Trees trees_;
    std::optional<Found> incumbent_;  // what decided last, if it is below the root
    std::vector<std::optional<Found>> best_of_tree_;
    std::vector<int> deciding_trees_;
    std::vector<TriedAtRoot> roots_;
    bool stopped_ = false;
    bool limited_ = false;  // trees could have gone on if their shares of the budget had been larger
};

// All trees of an ensemble, in this process.
template <SearchSpace S>
typename Mcts<S>::Trees trees_here(const S &space, const MctsOptions &options) {
    const auto all = std::make_shared<TreeShare<S>>(space, options);
    return [all](const auto &order, const KeepSearching &keep_searching) { return all->search(order, keep_searching); };
}

template <SearchSpace S>
Mcts<S>::Mcts(const S &space, const MctsOptions &options, Budget budget, Measure measure, Trees trees)
    : options_(checked(options, budget)), budget_(std::move(budget)), measure_(std::move(measure)), record_(budget_),
      space_(space), root_(space_), trees_(trees ? std::move(trees) : trees_here(space, options)),
      best_of_tree_(static_cast<size_t>(options.trees)) {}

template <SearchSpace S>
MctsResult<typename S::State> Mcts<S>::run() {
    incumbent_ = find_first();
    record_.add(incumbent_->solution());
    const auto lead = root_.below(incumbent_->path.decisions);
    TreeOrder<Decision> order{std::nullopt, {lead.begin(), lead.end()}, incumbent_->path.cost, {}};
    while (!space_.is_complete(root_.state()) && record_.may_continue(root_.num_moves(), space_.depth(root_.state()))) {
        order.limits = limits();
        const TreeReports<Decision> reports =
            trees_(order, [&](int64_t evaluations) { return may_go_on(evaluations); });
        stopped_ = reports.stopped;
        const bool is_exhausted =
            std::ranges::all_of(reports.trees, [](const auto &tree) { return tree.is_exhausted; });
        limited_ = limited_ || (options_.divides_budget() && !is_exhausted);
        const std::vector<Found> found = collect(reports);
        const Found *chosen = choose(found);
        if (!chosen || stopped_) {
            record_.result.ended_by = EndedBy::Interrupt;
            break;
        }
        record_.end_pass(chosen->solution(), chosen->path.cost);
        deciding_trees_.push_back(chosen->tree);
        if (options_.tells_roots) {
            roots_.push_back(tried(reports));
        }
        incumbent_ = *chosen;
        order = move_root(winner(*chosen, reports), chosen->path.cost);
    }
    if (!record_.is_stopped() && (limited_ || record_.is_used_up())) {
        record_.result.ended_by = EndedBy::Budget;
    }
    return {record_.finish(), std::move(deciding_trees_), std::move(roots_)};
}

// One complete state, so that there is something to return whatever the budget.
template <SearchSpace S>
typename Mcts<S>::Found Mcts<S>::find_first() {
    return options_.first_beam ? first_of_beam() : first_simulated();
}

// What the first pass of a beam search finds.
template <SearchSpace S>
typename Mcts<S>::Found Mcts<S>::first_of_beam() {
    Budget first_pass = budget_;
    first_pass.keep_going = [&](const Progress &progress) {
        return progress.pass == 0 && budget_.keep_going(progress);
    };
    const auto beam =
        BeamSearch<S>(space_, {.beam_size = *options_.first_beam, .threads = options_.threads}, first_pass).run();
    count(beam.distinct_evaluations(), beam.expansions, beam.forwards);  // the second pass asks for what is known
    const Solution<State> &first = beam.solutions.front();
    return found_below(decisions_of<S>(space_, root_.state(), root_.below(first.actions)), first.cost);
}

// The best of some random ones, as many as are wanted; else, if simulations are to follow it, a greedy one.
template <SearchSpace S>
typename Mcts<S>::Found Mcts<S>::first_simulated() {
    const bool is_greedy = options_.first_draws == 0 && options_.deviations < infinity;
    std::vector<Decision> decisions;
    double least = infinity;
    int num_found = 0;
    for (uint64_t attempt = 0; attempt < 1000 || num_found > 0; attempt++) {
        auto simulation = simulate(space_, root_.state(), SplitMix64(split_seed(options_.seed, ~attempt)),
                                   {is_greedy && attempt == 0 ? 1.0 : 0.0}, {}, [](const auto &) { return true; });
        const auto cost = simulation.end ? space_.cost(*simulation.end) : std::nullopt;
        count(simulation.evaluations + (simulation.end ? 1 : 0), simulation.expansions, simulation.forwards);
        if (cost) {
            if (num_found++ == 0 || *cost < least) {
                least = *cost;
                decisions = std::move(simulation.decisions);
            }
        }
        if (num_found > 0 && (num_found >= options_.first_draws || record_.is_used_up())) {
            return found_below(decisions, least);
        }
    }
    throw exhausted<S>("1000 random walks in a row ended in no acceptable complete state");
}

template <SearchSpace S>
typename Mcts<S>::Found Mcts<S>::found_below(const std::vector<Decision> &decisions, double cost) {
    CompletePath<Decision> path = root_.complete(space_, decisions, cost);
    State end = root_.end(space_, path);
    return {std::move(path), std::move(end), -1};
}

template <SearchSpace S>
void Mcts<S>::count(int64_t evaluations, int64_t expansions, int64_t forwards) {
    record_.result.evaluations += evaluations;
    record_.result.expansions += expansions;
    record_.result.forwards += forwards;
}

// Without limits for each decision, what is left of the whole budget is divided among the decisions left.
template <SearchSpace S>
TreeLimits Mcts<S>::limits() const {
    const int decisions =
        options_.divides_budget() && incumbent_ ? std::max(root_.num_choices(incumbent_->path), 1) : 1;
    const double part = 1 - std::pow(1 - 1.0 / decisions, options_.front_loading);
    const auto share = [&](int64_t budget, int64_t used) {
        const double shared = static_cast<double>(budget - used) * part / options_.trees;
        return budget == Budget::unlimited || shared >= static_cast<double>(Budget::unlimited)
                   ? Budget::unlimited
                   : std::max(static_cast<int64_t>(shared), int64_t{1});
    };
    return {.iterations = options_.iterations.value_or(Budget::unlimited),
            .evaluations = share(budget_.evaluations, record_.result.evaluations),
            .expansions = share(budget_.expansions, record_.result.expansions),
            .seconds =
                std::min(options_.seconds_per_decision, std::max(budget_.seconds - record_.seconds(), 0.0) * part)};
}

// Whether the caller agrees to go on with a search that has rated so many states.
template <SearchSpace S>
bool Mcts<S>::may_go_on(int64_t new_evaluations) {
    const auto &result = record_.result;
    return budget_.keep_going({root_.num_moves(), space_.depth(root_.state()), result.evaluations + new_evaluations,
                               result.expansions, record_.best_cost()});
}

// The best complete states of the trees and what decided last, without repetitions.
template <SearchSpace S>
std::vector<typename Mcts<S>::Found> Mcts<S>::collect(const TreeReports<Decision> &reports) {
    std::vector<Found> found;
    const auto add = [&](const Found &candidate) {
        record_.add(candidate.solution());
        if (std::none_of(found.begin(), found.end(),
                         [&](const Found &other) { return other.path.actions == candidate.path.actions; })) {
            found.push_back(candidate);
        }
    };
    for (const auto &tree : reports.trees) {
        count(tree.evaluations, tree.expansions, tree.forwards);
    }
    if (incumbent_) {
        add(*incumbent_);
    }
    for (const TreeReport<Decision> &report : reports.trees) {
        require_from_to("the tree of a report", report.tree, 0, options_.trees - 1);
        auto &known = best_of_tree_[static_cast<size_t>(report.tree)];
        if (!report.best) {
            known.reset();
        } else if (!known || known->path.actions != report.best->actions) {
            known = Found{*report.best, root_.end(space_, *report.best), report.tree};
        }
        if (known) {
            add(*known);
        }
    }
    return found;
}

template <SearchSpace S>
const typename Mcts<S>::Found *Mcts<S>::choose(const std::vector<Found> &found) {
    if (found.empty()) {
        return nullptr;
    }
    if (measure_) {
        std::vector<Solution<State>> candidates;
        for (const Found &candidate : found) {
            candidates.push_back(candidate.solution());
        }
        const std::vector<double> seconds = measure_(candidates);
        stopped_ = stopped_ || seconds.size() < candidates.size();
        const auto least = std::min_element(seconds.begin(), seconds.end(),
                                            [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
        if (least != seconds.end() && std::isfinite(*least)) {
            return &found[static_cast<size_t>(least - seconds.begin())];
        }
    }
    return &*std::min_element(found.begin(), found.end(),
                              [](const Found &a, const Found &b) { return a.path.cost < b.path.cost; });
}

template <SearchSpace S>
Move<typename S::Decision> Mcts<S>::winner(const Found &chosen, const TreeReports<Decision> &reports) {
    const Move<Decision> best = root_.next(chosen.path);
    switch (options_.winner) {
    case MctsOptions::Winner::Average:
        return best_average(reports).value_or(best);
    case MctsOptions::Winner::Candidate:
        return last_candidate(reports).value_or(best);
    default:
        return best;
    }
}

// The child of the root with the least mean cost over the simulations of all trees.
template <SearchSpace S>
std::optional<Move<typename S::Decision>> Mcts<S>::best_average(const TreeReports<Decision> &reports) {
    auto children = space_.children(root_.state());
    const auto decisions = children.decisions();
    std::vector<NodeStatistics> totals(decisions.size());
    for (const auto &tree : reports.trees) {
        for (const auto &child : tree.contenders) {
            NodeStatistics &total = totals[place_of(child.decision, decisions)];
            total.outcomes += child.outcomes;
            total.sum_cost += child.sum_cost;
        }
    }
    std::optional<Move<Decision>> best;
    double least = infinity;
    for (uint32_t action = 0; action < totals.size(); action++) {
        if (totals[action].outcomes > 0 && totals[action].mean_cost() < least) {
            least = totals[action].mean_cost();
            best = Move<Decision>{action, decisions[action]};
        }
    }
    return best;
}

// Of what the trees are left with, the one that led to the cheapest complete state.
template <SearchSpace S>
std::optional<Move<typename S::Decision>> Mcts<S>::last_candidate(const TreeReports<Decision> &reports) {
    auto children = space_.children(root_.state());
    const auto decisions = children.decisions();
    std::optional<Move<Decision>> best;
    double least = infinity;
    for (const auto &tree : reports.trees) {
        for (const auto &left : tree.contenders) {
            if (left.best_cost < least) {
                least = left.best_cost;
                best = Move<Decision>{place_of(left.decision, decisions), left.decision};
            }
        }
    }
    return best;
}

// By all trees, in the order of the legal decisions.
template <SearchSpace S>
TriedAtRoot Mcts<S>::tried(const TreeReports<Decision> &reports) {
    auto children = space_.children(root_.state());
    const auto decisions = children.decisions();
    TriedAtRoot tried{.depth = root_.depth(), .actions = {}, .costs = {}};
    for (uint32_t action = 0; action < decisions.size(); action++) {
        double least = infinity;
        for (const auto &tree : reports.trees) {
            const auto child = std::ranges::find(tree.contenders, decisions[action], &Contender<Decision>::decision);
            least = child != tree.contenders.end() ? std::min(least, child->best_cost) : least;
        }
        if (least < infinity) {
            tried.actions.push_back(action);
            tried.costs.push_back(least);
        }
    }
    return tried;
}

// What the trees are told to follow, with limits yet to come.
template <SearchSpace S>
TreeOrder<typename S::Decision> Mcts<S>::move_root(const Move<Decision> &move, double cost) {
    const auto keep = [&](std::optional<Found> &found) {
        if (found && root_.next(found->path).action != move.action) {
            found.reset();
        }
    };
    keep(incumbent_);
    std::ranges::for_each(best_of_tree_, keep);
    root_.move(space_, move);
    TreeOrder<Decision> order{move, {}, cost, {}};
    if (incumbent_) {
        const auto lead = root_.below(incumbent_->path.decisions);
        order.lead.assign(lead.begin(), lead.end());
    }
    return order;
}

}  // namespace halidegym
