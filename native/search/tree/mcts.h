#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "problem/error.h"
#include "search/beam_search.h"
#include "search/search_result.h"
#include "search/spaces/walk.h"
#include "search/tree/mcts_options.h"
#include "search/tree/tree_ensemble.h"

namespace halidegym {

template <typename State>
struct MctsResult : SearchResult<State> {
    // Per pass, the tree that found what decided; the greedy trees come first. -1: no tree, the search began with it.
    std::vector<int> deciding_trees;
};

// Monte Carlo tree search with an ensemble of trees (Haj-Ali et al. 2020, ProTuner, Figure 6).
//
// Decision by decision, all trees search from the same root until their budget is spent. Then the best complete state
// of all trees decides, or the fastest if there is somebody to measure them, and every tree moves its root along.
template <SearchSpace S>
class Mcts {
public:
    using State = typename S::State;
    // Run times of complete states in seconds, infinite where it failed; NaN where it was not measured.
    using Measure = std::function<std::vector<double>(const std::vector<Solution<State>> &)>;

    Mcts(const S &space, const MctsOptions &options, Budget budget, Measure measure = {});

    // The result has one pass solution per decision that left a choice: the state that decided it.
    MctsResult<State> run();

private:
    using Decision = typename S::Decision;
    using Tree = SearchTree<S>;
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    // A complete state below the root.
    struct Found {
        Solution<State> solution;
        std::vector<Decision> decisions;  // from the root
        int num_choices;                  // of these
        int tree;                         // that found it; -1: none
    };
    struct Move {
        uint32_t action;
        Decision decision;
    };

    void find_first();
    Found first_of_beam();
    Found first_simulated();
    void count_first(int64_t evaluations, int64_t expansions, int64_t forwards);
    TreeLimits limits() const;
    bool may_go_on(int64_t new_evaluations);
    std::vector<Found> collect();
    Found follow(S &space, std::vector<Decision> decisions, double cost, int tree) const;
    const Found *choose(const std::vector<Found> &found);
    bool search_from_root();
    std::optional<Move> best_average();
    std::optional<Move> last_candidate();
    void move_root(const Move &move, double cost);

    const MctsOptions options_;
    const Budget budget_;
    const Measure measure_;
    SearchRecord<State> record_;
    S space_;

    State root_;
    std::vector<uint32_t> actions_;  // that led to the root
    TreeEnsemble<S> ensemble_;
    std::optional<Found> incumbent_;  // what decided last, if it is below the root
    std::vector<std::optional<Found>> best_of_tree_;
    std::vector<int> deciding_trees_;
    int64_t first_evaluations_ = 0;  // before the trees'
    int64_t first_expansions_ = 0;
    int64_t first_forwards_ = 0;
    int num_moves_ = 0;
    bool stopped_ = false;
    bool limited_ = false;  // trees could have gone on if their shares of the budget had been larger
};

template <SearchSpace S>
Mcts<S>::Mcts(const S &space, const MctsOptions &options, Budget budget, Measure measure)
    : options_(checked(options, budget)), budget_(std::move(budget)), measure_(std::move(measure)), record_(budget_),
      space_(space), root_(space_.root()), ensemble_(space, std::min(options.threads, options.trees)) {
    Walk<S> walk = follow_forced(space_, root_);
    root_ = std::move(walk.state);
    actions_.assign(walk.decisions.size(), 0);
    const int64_t nodes = options.tree_memory / options.trees / static_cast<int64_t>(Tree::node_bytes());
    best_of_tree_.resize(static_cast<size_t>(options.trees));
    ensemble_.trees().reserve(static_cast<size_t>(options.trees));
    for (int i = 0; i < options.trees; i++) {
        const bool greedy = i < options.greedy_trees;
        ensemble_.trees().emplace_back(
            TreeOptions{.policy = options.policy,
                        .simulation = greedy ? SimulationPolicy{.greedy_probability = 1}
                                             : SimulationPolicy{options.epsilon, options.deviations, options.draws},
                        .widening = options.widening,
                        .max_nodes = static_cast<uint32_t>(std::min<int64_t>(nodes, 1u << 31)),
                        .seed = split_seed(options.seed, static_cast<uint64_t>(i))},
            root_);
    }
}

template <SearchSpace S>
MctsResult<typename S::State> Mcts<S>::run() {
    find_first();
    while (!space_.is_complete(root_) && record_.may_continue(num_moves_, space_.depth(root_))) {
        stopped_ = !search_from_root();
        limited_ = limited_ || (options_.divides_budget() && !ensemble_.is_exhausted());
        const std::vector<Found> found = collect();
        const Found *chosen = choose(found);
        if (!chosen || stopped_) {
            record_.result.ended_by = EndedBy::Interrupt;
            break;
        }
        record_.end_pass(chosen->solution, chosen->solution.cost);
        deciding_trees_.push_back(chosen->tree);
        incumbent_ = *chosen;
        const auto winner = options_.winner == MctsOptions::Winner::Average     ? best_average()
                            : options_.winner == MctsOptions::Winner::Candidate ? last_candidate()
                                                                                : std::nullopt;
        move_root(winner.value_or(Move{chosen->solution.actions[actions_.size()], chosen->decisions.front()}),
                  chosen->solution.cost);
    }
    if (!record_.is_stopped() && (limited_ || record_.is_used_up())) {
        record_.result.ended_by = EndedBy::Budget;
    }
    return {record_.finish(), std::move(deciding_trees_)};
}

// One complete state, so that there is something to return whatever the budget.
template <SearchSpace S>
void Mcts<S>::find_first() {
    incumbent_ = options_.first_beam ? first_of_beam() : first_simulated();
    record_.add(incumbent_->solution);
    for (Tree &tree : ensemble_.trees()) {
        tree.follow(incumbent_->decisions, incumbent_->solution.cost);
    }
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
    count_first(beam.evaluations, beam.expansions, beam.forwards);
    const Solution<State> &first = beam.solutions.front();
    return follow(space_, decisions_of<S>(space_, root_, std::span(first.actions).subspan(actions_.size())), first.cost,
                  -1);
}

// The best of some random ones, as many as are wanted; else, if simulations are to follow it, a greedy one.
template <SearchSpace S>
typename Mcts<S>::Found Mcts<S>::first_simulated() {
    const bool is_greedy = options_.first_draws == 0 && options_.deviations < infinity;
    std::vector<Decision> decisions;
    double least = infinity;
    int num_found = 0;
    for (uint64_t attempt = 0; attempt < 1000 || num_found > 0; attempt++) {
        auto simulation = simulate(space_, root_, SplitMix64(split_seed(options_.seed, ~attempt)),
                                   {is_greedy && attempt == 0 ? 1.0 : 0.0}, {}, [](const auto &) { return true; });
        const auto cost = simulation.end ? space_.cost(*simulation.end) : std::nullopt;
        count_first(simulation.evaluations + (simulation.end ? 1 : 0), simulation.expansions, simulation.forwards);
        if (cost) {
            num_found++;
            if (*cost < least) {
                least = *cost;
                decisions = std::move(simulation.decisions);
            }
        }
        if (num_found > 0 && (num_found >= options_.first_draws || record_.is_used_up())) {
            return follow(space_, std::move(decisions), least, -1);
        }
    }
    throw SearchExhausted("1000 random schedules in a row ended in a state without legal decisions; "
                          "a larger memory_limit allows more of them");
}

template <SearchSpace S>
void Mcts<S>::count_first(int64_t evaluations, int64_t expansions, int64_t forwards) {
    record_.result.evaluations = first_evaluations_ += evaluations;
    record_.result.expansions = first_expansions_ += expansions;
    record_.result.forwards = first_forwards_ += forwards;
}

// Without limits for each decision, what is left of the whole budget is divided among the decisions left.
template <SearchSpace S>
TreeLimits Mcts<S>::limits() const {
    const int decisions = options_.divides_budget() && incumbent_ ? std::max(incumbent_->num_choices, 1) : 1;
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

// All trees spend their budget for this decision; with candidates, an equal part of it between two halvings. False if
// they were stopped.
template <SearchSpace S>
bool Mcts<S>::search_from_root() {
    const TreeLimits whole = limits();
    const auto keep_going = [&](int64_t evaluations) { return may_go_on(evaluations); };
    if (!options_.candidates) {
        return ensemble_.search(whole, keep_going);
    }
    ensemble_.for_each_tree([&](S &space, size_t i) {
        ensemble_.trees()[i].begin_halving(space, static_cast<size_t>(*options_.candidates));
    });
    int rounds = 1;
    for (const Tree &tree : ensemble_.trees()) {
        rounds = std::max(rounds, tree.candidates().num_halvings());
    }
    rounds = static_cast<int>(std::min<int64_t>({rounds, whole.iterations, whole.evaluations, whole.expansions}));
    bool goes_on = true;
    for (int round = 0; round < rounds && goes_on; round++) {
        goes_on = ensemble_.search(whole.part(round, rounds), keep_going);
        for (Tree &tree : ensemble_.trees()) {
            tree.halve();
        }
    }
    return goes_on;
}

// Whether the caller agrees to go on with a search that has rated so many states.
template <SearchSpace S>
bool Mcts<S>::may_go_on(int64_t new_evaluations) {
    const auto &result = record_.result;
    return budget_.keep_going({num_moves_, space_.depth(root_), result.evaluations + new_evaluations, result.expansions,
                               result.solutions.front().cost});
}

// The best complete states of the trees and what decided last, without repetitions.
template <SearchSpace S>
std::vector<typename Mcts<S>::Found> Mcts<S>::collect() {
    std::vector<Found> found;
    const auto add = [&](const Found &candidate) {
        record_.add(candidate.solution);
        if (std::none_of(found.begin(), found.end(),
                         [&](const Found &other) { return other.solution.actions == candidate.solution.actions; })) {
            found.push_back(candidate);
        }
    };
    record_.result.evaluations = first_evaluations_;
    record_.result.expansions = first_expansions_;
    record_.result.forwards = first_forwards_;
    for (const Tree &tree : ensemble_.trees()) {
        record_.result.evaluations += tree.evaluations();
        record_.result.expansions += tree.expansions();
        record_.result.forwards += tree.forwards();
    }
    if (incumbent_) {
        add(*incumbent_);
    }
    ensemble_.for_each_tree([&](S &space, size_t i) {
        auto &known = best_of_tree_[i];
        const Tree &tree = ensemble_.trees()[i];
        if (!known || known->solution.cost != tree.best_cost()) {
            auto best = tree.best(space);
            known = best ? std::optional(follow(space, std::move(best->decisions), best->cost, static_cast<int>(i)))
                         : std::nullopt;
        }
    });
    for (const auto &best : best_of_tree_) {
        if (best) {
            add(*best);
        }
    }
    return found;
}

template <SearchSpace S>
typename Mcts<S>::Found Mcts<S>::follow(S &space, std::vector<Decision> decisions, double cost, int tree) const {
    Trace<S> trace = halidegym::trace<S>(space, root_, decisions);
    trace.actions.insert(trace.actions.begin(), actions_.begin(), actions_.end());
    return {{std::move(trace.end), cost, std::move(trace.actions)}, std::move(decisions), trace.num_choices, tree};
}

template <SearchSpace S>
const typename Mcts<S>::Found *Mcts<S>::choose(const std::vector<Found> &found) {
    if (found.empty()) {
        return nullptr;
    }
    if (measure_) {
        std::vector<Solution<State>> candidates;
        for (const Found &candidate : found) {
            candidates.push_back(candidate.solution);
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
                              [](const Found &a, const Found &b) { return a.solution.cost < b.solution.cost; });
}

// The child of the root with the least mean cost over the simulations of all trees.
template <SearchSpace S>
std::optional<typename Mcts<S>::Move> Mcts<S>::best_average() {
    auto children = space_.children(root_);
    const auto decisions = children.decisions();
    std::vector<NodeStatistics> totals(decisions.size());
    for (const Tree &tree : ensemble_.trees()) {
        for (const auto &child : tree.root_children()) {
            const auto action = std::find(decisions.begin(), decisions.end(), child.decision) - decisions.begin();
            NodeStatistics &total = totals[static_cast<size_t>(action)];
            total.outcomes += child.statistics.outcomes;
            total.sum_cost += child.statistics.sum_cost;
        }
    }
    std::optional<Move> best;
    double least = infinity;
    for (uint32_t action = 0; action < totals.size(); action++) {
        if (totals[action].outcomes > 0 && totals[action].mean_cost() < least) {
            least = totals[action].mean_cost();
            best = Move{action, decisions[action]};
        }
    }
    return best;
}

// Of what the trees are left with, the one that led to the cheapest complete state.
template <SearchSpace S>
std::optional<typename Mcts<S>::Move> Mcts<S>::last_candidate() {
    auto children = space_.children(root_);
    const auto decisions = children.decisions();
    std::optional<Move> best;
    double least = infinity;
    for (const Tree &tree : ensemble_.trees()) {
        for (const auto &[decision, statistics] : tree.root_children()) {
            const auto &left = tree.candidates().candidates();
            if (!left.empty() && left.front().decision == decision && statistics.best_cost < least) {
                least = statistics.best_cost;
                const auto action = std::find(decisions.begin(), decisions.end(), decision) - decisions.begin();
                best = Move{static_cast<uint32_t>(action), decision};
            }
        }
    }
    return best;
}

template <SearchSpace S>
void Mcts<S>::move_root(const Move &move, double cost) {
    Walk<S> walk = follow_forced(space_, space_.apply(root_, move.decision));
    walk.decisions.insert(walk.decisions.begin(), move.decision);
    const bool is_complete = space_.is_complete(walk.state);
    const auto keep = [&](std::optional<Found> &found) {
        if (found && found->solution.actions[actions_.size()] != move.action) {
            found.reset();
        } else if (found) {
            const auto begin = found->decisions.begin();
            found->decisions.erase(begin, begin + std::ssize(walk.decisions));
            found->num_choices--;
        }
    };
    keep(incumbent_);
    const std::vector<Decision> lead = incumbent_ ? incumbent_->decisions : std::vector<Decision>();
    for (size_t i = 0; i < best_of_tree_.size(); i++) {
        keep(best_of_tree_[i]);
        ensemble_.trees()[i].move_root(walk, is_complete, cost, lead);
    }
    root_ = std::move(walk.state);
    actions_.push_back(move.action);
    actions_.insert(actions_.end(), walk.decisions.size() - 1, 0);
    num_moves_++;
}

}  // namespace halidegym
