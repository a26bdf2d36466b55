#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "search/tree/search_tree_growth.h"
#include "search/worker_threads.h"

namespace halidegym {

// What each tree of an ensemble may use up in one search from its root.
struct TreeLimits {
    int64_t iterations = std::numeric_limits<int64_t>::max();
    int64_t evaluations = std::numeric_limits<int64_t>::max();
    int64_t expansions = std::numeric_limits<int64_t>::max();
    double seconds = std::numeric_limits<double>::infinity();  // shared by the trees of a thread

    // One of some equal parts; what cannot be divided is in the first ones.
    TreeLimits part(int index, int count) const {
        const auto share = [&](int64_t limit) {
            return limit == std::numeric_limits<int64_t>::max() ? limit : limit / count + (index < limit % count);
        };
        return {share(iterations), share(evaluations), share(expansions), seconds / count};
    }
};

// Search trees on threads (Haj-Ali et al. 2020, ProTuner, Figure 6). Between two synchronisations they do not depend on
// each other, so how they are spread over threads makes no difference to what they find.
template <SearchSpace S>
class TreeEnsemble {
public:
    using Tree = SearchTree<S>;

    // Each thread gets a copy of the space.
    TreeEnsemble(const S &space, int num_threads) : threads_(space, num_threads) {}

    std::vector<Tree> &trees() { return trees_; }
    // Whether each of them knows everything below its root.
    bool is_exhausted() const {
        return std::all_of(trees_.begin(), trees_.end(), [](const Tree &tree) { return tree.is_exhausted(); });
    }

    // Each tree searches from its root until a limit is reached or it knows everything. `keep_going` is asked now and
    // then, in the calling thread, about the number of states rated so far; when it says no, all trees stop. Returns
    // whether they were not stopped.
    template <typename KeepGoing>
    bool search(const TreeLimits &limits, const KeepGoing &keep_going) {
        const std::vector<Team> teams = this->teams(limits);
        evaluations_ = 0;
        return on_threads(
            teams.size(), [&](S &space, size_t i, const Job &job) { run_team(space, teams[i], limits, job); },
            [&] { return keep_going(evaluations_.load()); });
    }

    // Calls `work` with a space and the index of each tree.
    template <typename Work>
    void for_each_tree(const Work &work) {
        on_threads(trees_.size(), [&](S &space, size_t i, const Job &) { work(space, i); }, [] { return true; });
    }

private:
    using Clock = std::chrono::steady_clock;
    using Job = typename WorkerThreads<S>::Job;
    using Team = std::vector<Tree *>;  // work together, asking for their costs in one batch

    template <typename Work, typename KeepGoing>
    bool on_threads(size_t count, const Work &work, const KeepGoing &keep_going);
    std::vector<Team> teams(const TreeLimits &limits);
    void run_team(S &space, const Team &team, const TreeLimits &limits, const Job &job);
    void iterate(S &space, const Team &trees, const TreeLimits &limits, Clock::time_point deadline, const Job &job);

    std::vector<Tree> trees_;
    std::atomic<int64_t> evaluations_ = 0;
    WorkerThreads<S> threads_;
};

// Does pieces of work on all threads, while the calling thread asks whether to go on. What either throws ends the work,
// and is thrown once nothing of it goes on.
template <SearchSpace S>
template <typename Work, typename KeepGoing>
bool TreeEnsemble<S>::on_threads(size_t count, const Work &work, const KeepGoing &keep_going) {
    Job job(threads_, count, [&](S &space, size_t i) { work(space, i, job); });
    while (!job.wait_for_all(std::chrono::milliseconds(20))) {
        if (!keep_going()) {
            job.stop();
        }
    }
    return !job.is_stopped();
}

// With a time limit every thread has one team, so that all are done at the same time; else there are some more teams
// than threads, the slow greedy ones first.
template <SearchSpace S>
std::vector<typename TreeEnsemble<S>::Team> TreeEnsemble<S>::teams(const TreeLimits &limits) {
    std::vector<Team> teams;
    if (limits.seconds < std::numeric_limits<double>::infinity()) {
        teams.resize(threads_.size());
        for (size_t i = 0; i < trees_.size(); i++) {
            teams[i % teams.size()].push_back(&trees_[i]);
        }
        return teams;
    }
    const size_t team_size = trees_.size() / (2 * threads_.size()) + 1;
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
void TreeEnsemble<S>::run_team(S &space, const Team &team, const TreeLimits &limits, const Job &job) {
    const auto start = Clock::now();
    const auto deadline = [&](size_t done) {
        constexpr double never = 1e9;  // seconds; more may not fit into the clock
        const double share = static_cast<double>(done) / static_cast<double>(team.size());
        return limits.seconds >= never ? Clock::time_point::max()
                                       : start + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(limits.seconds * share));
    };
    Team standard;
    size_t done = 0;
    for (Tree *tree : team) {
        if (tree->is_greedy()) {
            iterate(space, {tree}, limits, deadline(++done), job);
        } else {
            standard.push_back(tree);
        }
    }
    iterate(space, standard, limits, deadline(team.size()), job);
}

template <SearchSpace S>
void TreeEnsemble<S>::iterate(S &space, const Team &trees, const TreeLimits &limits, Clock::time_point deadline,
                              const Job &job) {
    struct Start {
        int64_t iterations, evaluations, expansions;
    };
    const auto is_over = [&] {
        return job.is_stopped() || (deadline != Clock::time_point::max() && Clock::now() >= deadline);
    };
    std::vector<Start> starts;
    for (const Tree *tree : trees) {
        starts.push_back({tree->num_iterations(), tree->evaluations(), tree->expansions()});
    }
    std::vector<std::pair<Tree *, typename Tree::Iteration>> batch;
    std::vector<const typename S::State *> ends;
    while (!is_over()) {
        batch.clear();
        ends.clear();
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
        for (const auto &[tree, iteration] : batch) {
            if (iteration.simulation.needs_cost()) {
                ends.push_back(&*iteration.simulation.end);
            }
        }
        const auto costs = costs_of<S>(space, ends);
        evaluations_ += static_cast<int64_t>(ends.size());
        auto cost = costs.begin();
        for (auto &[tree, iteration] : batch) {
            if (!iteration.simulation.abandoned) {
                tree->finish_iteration(space, iteration,
                                       iteration.simulation.needs_cost() ? *cost++ : iteration.simulation.cost);
            }
        }
    }
}

}  // namespace halidegym
