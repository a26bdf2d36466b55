#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "search/bounded_queue.h"
#include "search/coarse_to_fine.h"
#include "search/expander.h"
#include "search/parameters.h"
#include "search/search_result.h"
#include "search/spaces/optional_hooks.h"
#include "search/spaces/search_space.h"
#include "search/visited.h"

namespace halidegym {

// What a pass of MB2FBS relates its priorities to (Gao et al. 2022, section "MB2FBS for Halide").
struct Mb2fbsAim {
    double cost;   // X: of the best complete state before this pass; 10^9 while there is none
    double depth;  // D_max: (number of the pass, from 1) * (depth of complete states) + 1
};

// The larger goes first.
using Mb2fbsPriority = std::function<double(double cost, int depth, const Mb2fbsAim &)>;

inline double cost_priority(double cost, int, const Mb2fbsAim &) {
    return -cost;
}

// The rate at which cost may still grow on the way down.
inline double depth_and_cost_priority(double cost, int depth, const Mb2fbsAim &aim) {
    return (aim.cost - cost) / (aim.depth - depth);
}

// Memory-bounded best-first beam search (Gao et al. 2022, Algorithm 2).
struct Mb2fbsOptions {
    static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

    int64_t beta1 = 28;             // states pushed forward, i.e. expanded, per iteration
    int64_t beta2 = 4;              // states pushed onward, i.e. kept for the next iteration
    int64_t beta = 32;              // states expanded per depth
    int64_t memory = unlimited;     // M: states in a queue
    int passes = 5;                 // coarse to fine, as in the beam search; one pass compares no structures
    bool stop_at_complete = false;  // end the pass at the first complete state: A*, if the priority is admissible
    Mb2fbsPriority priority = depth_and_cost_priority;
};

inline void check(const Mb2fbsOptions &options) {
    require_at_least("beta1", options.beta1, 1);
    require_at_least("beta2", options.beta2, 0);
    require_at_least("beta", options.beta, 1);
    require_at_least("memory", options.memory, 1);
    require_at_least("passes", options.passes, 1);
}

template <typename State>
struct Mb2fbsResult : SearchResult<State> {
    struct Pass {
        std::vector<int64_t> expansions;  // by depth
        int64_t complete_states = 0;      // taken off the queue
    };
    std::vector<Pass> passes;
};

template <SearchSpace S>
class Mb2fbs {
public:
    Mb2fbs(S &space, Mb2fbsOptions options, const Budget &budget)
        : space_(space), options_(checked(options)), record_(budget), history_(space, options.passes > 1),
          expander_(space, options_.passes) {
        check_memory();
    }

    Mb2fbsResult<typename S::State> run() {
        for (int pass = 0; pass < options_.passes && !record_.is_stopped(); pass++) {
            run_pass(pass);
        }
        auto passes = passes_;  // what it takes to complete a state after them belongs to none
        if (!record_.has_found()) {
            complete_greedily();
        }
        return {record_.finish(), std::move(passes)};
    }

private:
    using State = typename S::State;
    using VisitedRef = halidegym::VisitedRef<State>;

    struct Queued : QueuedChild<S> {
        VisitedRef parent;
        double priority;
        uint64_t order;  // of creation, decides about equal priorities
    };
    // How many complete states of a pass count as good ones, as for a beam of this size.
    static constexpr size_t max_good = 32;

    struct Before {
        bool operator()(const Queued &a, const Queued &b) const {
            return a.priority != b.priority ? a.priority > b.priority : a.order < b.order;
        }
    };
    using Queue = BoundedQueue<Queued, Before>;

    void check_memory() const;
    void run_pass(int pass);
    Queue iterate(Queue queue, int pass);
    void expand(const VisitedRef &visited, Queue &next);
    VisitedRef take(Queue &queue, int pass);
    bool is_deferred(Queued &queued, const State &state, const Queue &queue, int pass);
    void finish_pass(int pass);
    void complete_greedily();
    VisitedRef visit(const Queued &queued, State state) {
        return expander_.visit(queued.parent, queued, std::move(state));
    }
    State rebuild(const Queued &queued) const { return space_.apply(queued.parent->state, queued.decision); }
    void add_complete(const VisitedRef &visited);
    bool is_over() const { return record_.is_stopped() || (options_.stop_at_complete && !complete_.empty()); }
    // Of this pass, at a depth.
    int64_t &num_expanded(int depth) {
        auto &counts = passes_.back().expansions;
        counts.resize(std::max(counts.size(), static_cast<size_t>(depth) + 1));
        return counts[static_cast<size_t>(depth)];
    }
    Queue make_queue() const { return Queue(static_cast<size_t>(options_.memory)); }

    S &space_;
    const Mb2fbsOptions options_;
    SearchRecord<State> record_;
    CoarseToFine<S> history_;
    Expander<S> expander_;
    std::vector<typename Mb2fbsResult<State>::Pass> passes_;
    Mb2fbsAim aim_{};
    uint64_t num_created_ = 0;
    VisitedRef deepest_;                // expanded state
    std::vector<VisitedRef> complete_;  // of this pass
};

template <SearchSpace S>
void Mb2fbs<S>::run_pass(int pass) {
    aim_ = {record_.has_found() ? record_.best_cost() : 1e9, (pass + 1.0) * space_.max_depth() + 1};
    passes_.emplace_back();
    complete_.clear();
    expander_.begin_pass(pass);
    Queue queue = make_queue();
    expand(visit_root(space_.root()), queue);
    while (!queue.empty() && !is_over()) {
        queue = iterate(std::move(queue), pass);
    }
    finish_pass(pass);
}

// Takes the best states off the queue, and returns the queue of the next iteration. A complete state takes one of the
// places, and so does one that may not be expanded because enough are at its depth.
template <SearchSpace S>
typename Mb2fbs<S>::Queue Mb2fbs<S>::iterate(Queue queue, int pass) {
    Queue next = make_queue();
    history_.begin_level();
    for (int64_t forward = 0; forward < options_.beta1 && !queue.empty() && !is_over(); forward++) {
        const VisitedRef visited = take(queue, pass);
        if (!record_.may_continue(pass, visited->depth)) {
            return next;
        }
        if (space_.is_complete(visited->state)) {
            add_complete(visited);
        } else if (num_expanded(visited->depth) < options_.beta) {
            expand(visited, next);
        }
    }
    if (options_.beta2 == Mb2fbsOptions::unlimited) {
        next.absorb(std::move(queue));
        return next;
    }
    for (int64_t onward = 0; onward < options_.beta2 && !queue.empty(); onward++) {
        Queued queued = queue.pop();
        State state = rebuild(queued);
        if (space_.is_complete(state)) {
            add_complete(visit(queued, std::move(state)));
        } else {
            next.push(std::move(queued));
        }
    }
    return next;
}

template <SearchSpace S>
void Mb2fbs<S>::expand(const VisitedRef &visited, Queue &next) {
    num_expanded(visited->depth)++;
    if (!deepest_ || visited->depth >= deepest_->depth) {
        deepest_ = visited;
    }
    const RatedChildren<S> rated = expander_.expand(visited, record_.result);
    for (const RatedChild<S> &child : *rated) {
        QueuedChild<S> queued = queued_child<S>(child, *visited);
        const double priority = options_.priority(queued.cost, visited->depth + 1, aim_);
        next.push({std::move(queued), visited, priority, num_created_++});
    }
}

template <SearchSpace S>
typename Mb2fbs<S>::VisitedRef Mb2fbs<S>::take(Queue &queue, int pass) {
    for (;;) {
        Queued queued = queue.pop();
        State state = rebuild(queued);
        if (!is_deferred(queued, state, queue, pass)) {
            return visit(queued, std::move(state));
        }
        queue.push(std::move(queued));
    }
}

// Whether a better one is waiting when a state is penalized.
template <SearchSpace S>
bool Mb2fbs<S>::is_deferred(Queued &queued, const State &state, const Queue &queue, int pass) {
    if (!history_.penalize(queued, [&](int depth) { return space_.hash(state, depth); }, pass)) {
        return false;
    }
    queued.priority = options_.priority(queued.cost, queued.parent->depth + 1, aim_);
    return !queue.empty() && queue.best().priority > queued.priority;
}

// What resembles the good complete states of a pass is welcome in the next one
// (docs/specification/search-and-cost-model.md, section 2.7).
template <SearchSpace S>
void Mb2fbs<S>::finish_pass(int pass) {
    if (complete_.empty()) {
        return;
    }
    std::stable_sort(complete_.begin(), complete_.end(),
                     [](const auto &a, const auto &b) { return a->cost < b->cost; });
    const VisitedRef &best = complete_.front();
    record_.end_pass(solution_of<State>(best), best->cost);
    for (size_t i = 0; i < std::min(complete_.size(), max_good); i++) {
        if (complete_[i]->cost > history_.worst_welcome(best->cost)) {
            return;
        }
        history_.welcome(complete_[i], pass);
    }
}

// No pass reached a complete state, or not before the search was stopped: the best child each time leads to one soon.
template <SearchSpace S>
void Mb2fbs<S>::complete_greedily() {
    VisitedRef visited = deepest_;
    while (!space_.is_complete(visited->state)) {
        Queue children(1);
        expand(visited, children);
        if (children.empty()) {
            throw exhausted<S>("no complete state was reached from depth " + std::to_string(visited->depth),
                               ", and a larger beta or beta2 keeps more of them");
        }
        const Queued best = children.pop();
        visited = visit(best, rebuild(best));
    }
    record_.add(solution_of<State>(visited));
}

template <SearchSpace S>
void Mb2fbs<S>::add_complete(const VisitedRef &visited) {
    passes_.back().complete_states++;
    record_.add(solution_of<State>(visited));
    complete_.push_back(visited);
}

// What the paper asks of M: below, every state could be dropped before one is complete. Without pushing onward, all
// states of a queue have one depth, so that each iteration reaches the next.
template <SearchSpace S>
void Mb2fbs<S>::check_memory() const {
    const auto finite = [](int64_t value, int64_t otherwise) {
        return value == Mb2fbsOptions::unlimited ? otherwise : value;
    };
    const int64_t beta1 = finite(options_.beta1, 1);
    const int64_t beta2 = finite(options_.beta2, 1);
    if (options_.beta2 == 0) {
        require_at_least("memory", options_.memory, beta1, ", which is beta1");
    } else if (options_.beta != Mb2fbsOptions::unlimited) {
        require_range("memory", options_.memory, options_.memory / options_.beta >= space_.max_depth(),
                      "at least beta times the depth of the tree, " + std::to_string(options_.beta) + " * " +
                          std::to_string(space_.max_depth()) + ", where the expansions per depth are limited, or None");
    } else {
        const int64_t sum = beta1 > Mb2fbsOptions::unlimited - beta2 ? Mb2fbsOptions::unlimited : beta1 + beta2;
        require_at_least("memory", options_.memory, sum, ", which is beta1 + beta2 (1 for an infinite one)");
    }
}

}  // namespace halidegym
