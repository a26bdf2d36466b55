#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "problem/error.h"
#include "search/search_result.h"
#include "search/search_tree.h"

namespace halidegym {

// Monte Carlo tree search with an ensemble of trees (Haj-Ali et al. 2020, ProTuner, Figure 6).
//
// Decision by decision, all trees search from the same root until their budget is spent. Then the best complete state
// of all trees decides, or the fastest if there is somebody to measure them, and every tree moves its root along.
struct MctsOptions {
    enum class Winner { Best, Average };

    int trees = 16;
    int greedy_trees = 1;    // of these, how many simulate greedily
    double epsilon = 0;      // probability of a greedy step in the simulations of the others
    int64_t iterations = 0;  // of each tree at each decision; 0: no limit
    double seconds = std::numeric_limits<double>::infinity();  // at each decision, shared by the trees of a thread
    TreePolicy policy;
    Winner winner = Winner::Best;
    double widening = 1;
    int64_t tree_memory = int64_t{1} << 30;  // bytes of all nodes
    int threads = 1;
    uint32_t seed = 0;
};

template <SearchSpace S>
class Mcts {
public:
    using State = typename S::State;
    // Run times of complete states in seconds, infinite where it failed; NaN where it was not measured.
    using Measure = std::function<std::vector<double>(const std::vector<Solution<State>> &)>;

    Mcts(const S &space, const MctsOptions &options, const Budget &budget, Measure measure = {});

    // The result has one pass solution per decision that left a choice: the state that decided it.
    SearchResult<State> run();

private:
    using Decision = typename S::Decision;
    using Tree = SearchTree<S>;
    using Clock = std::chrono::steady_clock;
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    // A complete state below the root.
    struct Found {
        Solution<State> solution;
        std::vector<Decision> decisions;  // from the root
        int num_choices;                  // of these
    };
    struct Move {
        uint32_t action;
        Decision decision;
    };
    // What one tree may use up at one decision.
    struct Limits {
        int64_t iterations;
        int64_t evaluations;
        int64_t expansions;
        double seconds;
    };
    using Team = std::vector<Tree *>;

    void find_first();
    Limits limits() const;
    void search_from_root();
    std::vector<Team> teams(const Limits &limits);
    void run_team(S &space, const Team &team, const Limits &limits);
    void iterate(S &space, Team trees, const Limits &limits, Clock::time_point deadline);
    void watch(const std::atomic<int> &running);
    std::vector<Found> collect();
    Found follow(std::vector<Decision> decisions, double cost);
    const Found *choose(const std::vector<Found> &found);
    std::optional<Move> best_average();
    void move_root(const Move &move, double cost);

    const MctsOptions options_;
    const Budget &budget_;
    const Measure measure_;
    SearchRecord<State> record_;
    std::vector<S> spaces_;  // one per thread
    std::vector<Tree> trees_;

    State root_;
    std::vector<uint32_t> actions_;   // that led to the root
    std::optional<Found> incumbent_;  // what decided last, if it is below the root
    std::vector<std::optional<Found>> best_of_tree_;
    int64_t first_evaluations_ = 0;  // before there were trees
    int num_moves_ = 0;

    std::atomic<bool> stop_ = false;
    std::atomic<int64_t> running_evaluations_ = 0;
    std::mutex mutex_;
    std::condition_variable finished_;
    std::exception_ptr error_;
};

template <SearchSpace S>
Mcts<S>::Mcts(const S &space, const MctsOptions &options, const Budget &budget, Measure measure)
    : options_(options), budget_(budget), measure_(std::move(measure)), record_(budget),
      spaces_(static_cast<size_t>(std::clamp(options.threads, 1, std::max(options.trees, 1))), space),
      root_(spaces_[0].root()) {
    const auto require = [](bool holds, const std::string &what) {
        if (!holds) {
            throw InvalidParameter(what);
        }
    };
    require(options.trees >= 1, "trees is " + std::to_string(options.trees) + "; it must be at least 1");
    require(options.greedy_trees >= 0 && options.greedy_trees <= options.trees,
            "greedy_trees is " + std::to_string(options.greedy_trees) + "; it must be from 0 to the number of trees");
    require(options.epsilon >= 0 && options.epsilon <= 1, "epsilon is no probability; give a number from 0 to 1");
    require(options.iterations >= 0, "iterations is negative; give at least 1, or 0 for no limit");
    require(options.seconds > 0, "seconds is not positive; give a number above 0, or infinity for no limit");
    require(options.widening > 0, "widening is not positive; give an exponent above 0, 1 for no widening");
    require(options.policy.exploration >= 0, "exploration is negative; give at least 0");
    require(options.policy.exploration_decay > 0, "exploration_decay is not positive; give a factor above 0");
    require(options.iterations > 0 || options.seconds < infinity || budget.seconds < infinity ||
                budget.evaluations < Budget{}.evaluations || budget.expansions < Budget{}.expansions,
            "a tree search has no end of its own; give iterations, seconds or a budget");
    require(options.tree_memory > 0, "tree_memory is not positive; give a number of bytes");
    require(options.threads >= 1, "threads is " + std::to_string(options.threads) + "; it must be at least 1");

    Walk<S> walk = follow_forced(spaces_[0], root_);
    root_ = std::move(walk.state);
    actions_.assign(walk.decisions.size(), 0);
    const int64_t nodes = options.tree_memory / options.trees / static_cast<int64_t>(Tree::node_bytes());
    best_of_tree_.resize(static_cast<size_t>(options.trees));
    trees_.reserve(static_cast<size_t>(options.trees));
    for (int i = 0; i < options.trees; i++) {
        const bool greedy = i < options.greedy_trees;
        trees_.emplace_back(TreeOptions{.policy = options.policy,
                                        .simulation = {greedy ? 1 : options.epsilon},
                                        .widening = options.widening,
                                        .max_nodes = static_cast<uint32_t>(std::min<int64_t>(nodes, 1u << 31)),
                                        .seed = split_seed(options.seed, static_cast<uint64_t>(i))},
                            root_);
    }
}

template <SearchSpace S>
SearchResult<typename S::State> Mcts<S>::run() {
    find_first();
    while (!spaces_[0].is_complete(root_) && record_.may_continue(num_moves_, spaces_[0].depth(root_))) {
        search_from_root();
        const std::vector<Found> found = collect();
        const Found *chosen = choose(found);
        if (!chosen || stop_) {
            record_.result.interrupted = true;
            break;
        }
        record_.result.pass_solutions.push_back(chosen->solution);
        record_.result.pass_costs.push_back(chosen->solution.cost);
        incumbent_ = *chosen;
        const auto average = options_.winner == MctsOptions::Winner::Average ? best_average() : std::nullopt;
        move_root(average.value_or(Move{chosen->solution.actions[actions_.size()], chosen->decisions.front()}),
                  chosen->solution.cost);
    }
    return record_.finish();
}

// One random complete state, so that there is something to return whatever the budget.
template <SearchSpace S>
void Mcts<S>::find_first() {
    for (uint64_t attempt = 0; attempt < 1000; attempt++) {
        auto simulation = simulate(spaces_[0], root_, SplitMix64(split_seed(options_.seed, ~attempt)), {},
                                   [](const auto &) { return true; });
        const auto cost = simulation.end ? spaces_[0].cost(*simulation.end) : std::nullopt;
        if (simulation.end) {
            record_.result.evaluations = ++first_evaluations_;
        }
        if (cost) {
            incumbent_ = follow(std::move(simulation.decisions), *cost);
            record_.add(incumbent_->solution);
            return;
        }
    }
    throw SearchExhausted("1000 random schedules in a row ended in a state without legal decisions; "
                          "a larger memory_limit allows more of them");
}

// Without limits for each decision, what is left of the whole budget is divided among the decisions left.
template <SearchSpace S>
typename Mcts<S>::Limits Mcts<S>::limits() const {
    const bool shared = options_.iterations == 0 && options_.seconds == infinity;
    const int64_t decisions = shared && incumbent_ ? std::max(incumbent_->num_choices, 1) : 1;
    const auto share = [&](int64_t budget, int64_t used) {
        return budget == std::numeric_limits<int64_t>::max()
                   ? budget
                   : std::max<int64_t>((budget - used) / decisions / options_.trees, 1);
    };
    return {.iterations = options_.iterations > 0 ? options_.iterations : std::numeric_limits<int64_t>::max(),
            .evaluations = share(budget_.evaluations, record_.result.evaluations),
            .expansions = share(budget_.expansions, record_.result.expansions),
            .seconds = std::min(options_.seconds,
                                std::max(budget_.seconds - record_.seconds(), 0.0) / static_cast<double>(decisions))};
}

// Trees do not depend on each other here, so how they are spread over threads makes no difference to what they find.
template <SearchSpace S>
void Mcts<S>::search_from_root() {
    const Limits limits = this->limits();
    const std::vector<Team> teams = this->teams(limits);
    std::atomic<size_t> next = 0;
    std::atomic<int> running = static_cast<int>(spaces_.size());
    const auto work = [&](S &space) {
        try {
            for (size_t i = next++; i < teams.size(); i = next++) {
                run_team(space, teams[i], limits);
            }
        } catch (...) {
            const std::lock_guard lock(mutex_);
            error_ = std::current_exception();
            stop_ = true;
        }
        const std::lock_guard lock(mutex_);
        running--;
        finished_.notify_one();
    };
    running_evaluations_ = 0;
    {
        std::vector<std::jthread> threads;
        for (S &space : spaces_) {
            threads.emplace_back([&] { work(space); });
        }
        watch(running);
    }
    if (error_) {
        std::rethrow_exception(error_);
    }
}

// Until all threads are done: passes on the caller's wish to stop. Whatever it throws is thrown when they are.
template <SearchSpace S>
void Mcts<S>::watch(const std::atomic<int> &running) {
    std::unique_lock lock(mutex_);
    while (!finished_.wait_for(lock, std::chrono::milliseconds(20), [&] { return running == 0; })) {
        lock.unlock();
        try {
            const auto &solutions = record_.result.solutions;
            const bool go_on = budget_.keep_going({num_moves_, spaces_[0].depth(root_),
                                                   record_.result.evaluations + running_evaluations_,
                                                   record_.result.expansions, solutions.front().cost});
            if (!go_on) {
                stop_ = true;
            }
        } catch (...) {
            stop_ = true;
            lock.lock();
            error_ = std::current_exception();
            lock.unlock();
        }
        lock.lock();
    }
}

// The trees that work together, asking for their costs in one batch. With a time limit every thread has one team, so
// that all are done at the same time; else there are some more teams than threads, the slow greedy ones first.
template <SearchSpace S>
std::vector<typename Mcts<S>::Team> Mcts<S>::teams(const Limits &limits) {
    std::vector<Team> teams;
    if (limits.seconds < infinity) {
        teams.resize(spaces_.size());
        for (size_t i = 0; i < trees_.size(); i++) {
            teams[i % teams.size()].push_back(&trees_[i]);
        }
        return teams;
    }
    const size_t team_size = trees_.size() / (2 * spaces_.size()) + 1;
    for (Tree &tree : trees_) {
        if (tree.is_greedy() || teams.empty() || teams.back().front()->is_greedy() ||
            teams.back().size() == team_size) {
            teams.emplace_back();
        }
        teams.back().push_back(&tree);
    }
    return teams;
}

// Every tree gets an equal share of the team's time, the greedy ones by themselves, as each of their iterations takes
// long.
template <SearchSpace S>
void Mcts<S>::run_team(S &space, const Team &team, const Limits &limits) {
    const auto start = Clock::now();
    const auto deadline = [&](size_t done) {
        const double share = static_cast<double>(done) / static_cast<double>(team.size());
        return limits.seconds == infinity ? Clock::time_point::max()
                                          : start + std::chrono::duration_cast<Clock::duration>(
                                                        std::chrono::duration<double>(limits.seconds * share));
    };
    Team standard;
    size_t done = 0;
    for (Tree *tree : team) {
        if (tree->is_greedy()) {
            iterate(space, {tree}, limits, deadline(++done));
        } else {
            standard.push_back(tree);
        }
    }
    iterate(space, standard, limits, deadline(team.size()));
}

template <SearchSpace S>
void Mcts<S>::iterate(S &space, Team trees, const Limits &limits, Clock::time_point deadline) {
    struct Start {
        int64_t iterations, evaluations, expansions;
    };
    const auto is_over = [&] { return stop_ || (deadline != Clock::time_point::max() && Clock::now() >= deadline); };
    std::vector<Start> starts;
    for (const Tree *tree : trees) {
        starts.push_back({tree->num_iterations(), tree->evaluations(), tree->expansions()});
    }
    while (!is_over()) {
        std::vector<std::pair<Tree *, typename Tree::Iteration>> batch;
        for (size_t i = 0; i < trees.size(); i++) {
            const auto may_use = [&](int64_t evaluations, int64_t expansions) {
                return evaluations - starts[i].evaluations < limits.evaluations &&
                       expansions - starts[i].expansions < limits.expansions;
            };
            Tree &tree = *trees[i];
            if (!tree.is_exhausted() && tree.num_iterations() - starts[i].iterations < limits.iterations &&
                may_use(tree.evaluations(), tree.expansions())) {
                batch.emplace_back(&tree, tree.begin_iteration(space, [&](int64_t evaluations, int64_t expansions) {
                    return may_use(evaluations, expansions) && !is_over();
                }));
            }
        }
        if (batch.empty()) {
            return;
        }
        std::vector<const State *> ends;
        for (const auto &[tree, iteration] : batch) {
            if (iteration.simulation.needs_cost()) {
                ends.push_back(&*iteration.simulation.end);
            }
        }
        const auto costs = costs_of<S>(space, ends);
        running_evaluations_ += static_cast<int64_t>(ends.size());
        auto cost = costs.begin();
        for (auto &[tree, iteration] : batch) {
            if (!iteration.simulation.abandoned) {
                tree->finish_iteration(iteration,
                                       iteration.simulation.needs_cost() ? *cost++ : iteration.simulation.cost);
            }
        }
    }
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
    record_.result.expansions = 0;
    for (const Tree &tree : trees_) {
        record_.result.evaluations += tree.evaluations();
        record_.result.expansions += tree.expansions();
    }
    if (incumbent_) {
        add(*incumbent_);
    }
    for (size_t i = 0; i < trees_.size(); i++) {
        if (best_of_tree_[i] && best_of_tree_[i]->solution.cost == trees_[i].best_cost()) {
            add(*best_of_tree_[i]);
        } else if (auto best = trees_[i].best(spaces_[0])) {
            best_of_tree_[i] = follow(std::move(best->decisions), best->cost);
            add(*best_of_tree_[i]);
        }
    }
    return found;
}

template <SearchSpace S>
typename Mcts<S>::Found Mcts<S>::follow(std::vector<Decision> decisions, double cost) {
    Found found{{root_, cost, actions_}, std::move(decisions), 0};
    for (const Decision &decision : found.decisions) {
        auto children = spaces_[0].children(found.solution.state);
        const auto options = children.decisions();
        const auto action = std::find(options.begin(), options.end(), decision) - options.begin();
        found.solution.actions.push_back(static_cast<uint32_t>(action));
        found.num_choices += options.size() > 1 ? 1 : 0;
        found.solution.state = children.child(decision);
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
            candidates.push_back(candidate.solution);
        }
        const std::vector<double> seconds = measure_(candidates);
        stop_ = stop_ || seconds.size() < candidates.size();
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
    auto children = spaces_[0].children(root_);
    const auto decisions = children.decisions();
    std::vector<NodeStatistics> totals(decisions.size());
    for (const Tree &tree : trees_) {
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

template <SearchSpace S>
void Mcts<S>::move_root(const Move &move, double cost) {
    const Walk<S> forced = follow_forced(spaces_[0], spaces_[0].apply(root_, move.decision));
    const bool is_complete = spaces_[0].is_complete(forced.state);
    const auto keep = [&](std::optional<Found> &found) {
        if (found && found->solution.actions[actions_.size()] != move.action) {
            found.reset();
        } else if (found) {
            const auto begin = found->decisions.begin();
            found->decisions.erase(begin, begin + 1 + static_cast<std::ptrdiff_t>(forced.decisions.size()));
            found->num_choices--;
        }
    };
    keep(incumbent_);
    for (size_t i = 0; i < trees_.size(); i++) {
        keep(best_of_tree_[i]);
        trees_[i].move_root(move.decision, forced.state, is_complete, cost);
    }
    root_ = forced.state;
    actions_.push_back(move.action);
    actions_.insert(actions_.end(), forced.decisions.size(), 0);
    num_moves_++;
}

}  // namespace halidegym
