#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "problem/error.h"
#include "search/bounded_queue.h"
#include "search/search_result.h"
#include "search/spaces/search_space.h"

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
        : space_(space), options_(std::move(options)), record_(budget) {
        check_options();
    }

    Mb2fbsResult<typename S::State> run() {
        for (int pass = 0; pass < options_.passes && !record_.result.interrupted; pass++) {
            run_pass(pass);
        }
        auto passes = passes_;  // what it takes to complete a state after them belongs to none
        if (record_.result.solutions.empty()) {
            complete_greedily();
        }
        return {record_.finish(), std::move(passes)};
    }

private:
    using State = typename S::State;
    using Decision = typename S::Decision;

    // A state that was taken off the queue, with the way to it.
    struct Visited {
        State state;
        std::shared_ptr<const Visited> parent;
        uint32_t action;
        int depth;
        double cost;        // penalties included
        double model_cost;  // as the space gave it
    };
    using VisitedRef = std::shared_ptr<const Visited>;

    // A state in a queue. It is built again whenever it is taken off, so that many fit.
    struct Candidate {
        double priority;
        uint64_t order;  // of creation, decides about equal priorities
        double cost;
        double model_cost;
        VisitedRef parent;
        Decision decision;
        uint32_t action;
        bool penalized = false;
    };
    // How many complete states of a pass are blessed, as for a beam of this size.
    static constexpr size_t max_blessed = 32;

    struct Before {
        bool operator()(const Candidate &a, const Candidate &b) const {
            return a.priority != b.priority ? a.priority > b.priority : a.order < b.order;
        }
    };
    using Queue = BoundedQueue<Candidate, Before>;

    void check_options() const;
    void run_pass(int pass);
    Queue iterate(Queue queue, int pass);
    void expand(const VisitedRef &visited, Queue &next);
    VisitedRef take(Queue &queue, int pass);
    bool is_deferred(Candidate &candidate, const State &state, const Queue &queue, int pass);
    void finish_pass(int pass);
    void complete_greedily();
    VisitedRef visit(const Candidate &candidate, State state) const;
    State rebuild(const Candidate &candidate) const {
        return space_.apply(candidate.parent->state, candidate.decision);
    }
    void add_complete(const VisitedRef &visited);
    bool is_over() const { return record_.result.interrupted || (options_.stop_at_complete && !complete_.empty()); }
    // Of this pass, at a depth.
    int64_t &num_expanded(int depth) {
        auto &counts = passes_.back().expansions;
        counts.resize(std::max(counts.size(), static_cast<size_t>(depth) + 1));
        return counts[static_cast<size_t>(depth)];
    }
    Queue make_queue() const { return Queue(static_cast<size_t>(options_.memory)); }
    static Solution<State> solution(const VisitedRef &visited);

    S &space_;
    const Mb2fbsOptions options_;
    SearchRecord<State> record_;
    std::vector<typename Mb2fbsResult<State>::Pass> passes_;
    Mb2fbsAim aim_{};
    uint64_t num_created_ = 0;
    VisitedRef deepest_;                             // expanded state
    std::vector<VisitedRef> complete_;               // of this pass
    std::unordered_map<uint64_t, int> seen_;         // hashes of this iteration
    std::unordered_set<uint64_t> permitted_hashes_;  // of good states of earlier passes, at the depth of their pass
};

template <SearchSpace S>
void Mb2fbs<S>::run_pass(int pass) {
    const auto &known = record_.result.solutions;
    aim_ = {known.empty() ? 1e9 : known.front().cost, (pass + 1.0) * space_.max_depth() + 1};
    passes_.emplace_back();
    complete_.clear();
    Queue queue = make_queue();
    expand(std::make_shared<const Visited>(Visited{space_.root(), nullptr, 0, 0, 0, 0}), queue);
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
    seen_.clear();
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
        Candidate candidate = queue.pop();
        State state = rebuild(candidate);
        if (space_.is_complete(state)) {
            add_complete(visit(candidate, std::move(state)));
        } else {
            next.push(std::move(candidate));
        }
    }
    return next;
}

template <SearchSpace S>
void Mb2fbs<S>::expand(const VisitedRef &visited, Queue &next) {
    record_.result.expansions++;
    num_expanded(visited->depth)++;
    if (!deepest_ || visited->depth >= deepest_->depth) {
        deepest_ = visited;
    }
    auto children = space_.children(visited->state);
    uint32_t action = 0;
    for (const Decision &decision : children.decisions()) {
        const bool inherits = space_.inherits_cost(decision);
        const auto model_cost = inherits ? std::optional(visited->model_cost) : space_.cost(children.child(decision));
        record_.result.evaluations += model_cost && !inherits;
        if (model_cost) {
            const double cost = inherits ? visited->cost : *model_cost;
            next.push({.priority = options_.priority(cost, visited->depth + 1, aim_),
                       .order = num_created_++,
                       .cost = cost,
                       .model_cost = *model_cost,
                       .parent = visited,
                       .decision = decision,
                       .action = action});
        }
        action++;
    }
}

template <SearchSpace S>
typename Mb2fbs<S>::VisitedRef Mb2fbs<S>::take(Queue &queue, int pass) {
    for (;;) {
        Candidate candidate = queue.pop();
        State state = rebuild(candidate);
        if (!is_deferred(candidate, state, queue, pass)) {
            return visit(candidate, std::move(state));
        }
        queue.push(std::move(candidate));
    }
}

// Penalizes a state that resembles one taken in this iteration, or no good state of the pass before; returns whether
// another is better then (docs/specification/search-and-cost-model.md, section 2.5).
template <SearchSpace S>
bool Mb2fbs<S>::is_deferred(Candidate &candidate, const State &state, const Queue &queue, int pass) {
    if (options_.passes == 1 || candidate.penalized) {
        return false;
    }
    int penalty = ++seen_[space_.hash(state, pass + 1)];
    if (pass > 0 && !permitted_hashes_.contains(space_.hash(state, pass - 1))) {
        penalty += 10;
    }
    if (penalty == 1) {
        return false;
    }
    candidate.penalized = true;
    candidate.cost *= penalty;
    candidate.priority = options_.priority(candidate.cost, candidate.parent->depth + 1, aim_);
    return !queue.empty() && queue.best().priority > candidate.priority;
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
    record_.result.pass_costs.push_back(best->cost);
    record_.result.pass_solutions.push_back(solution(best));
    for (size_t i = 0; i < std::min(complete_.size(), max_blessed); i++) {
        if (complete_[i]->cost > 1.2 * best->cost) {
            return;
        }
        for (const Visited *ancestor = complete_[i].get(); ancestor; ancestor = ancestor->parent.get()) {
            permitted_hashes_.insert(space_.hash(ancestor->state, pass));
        }
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
            throw SearchExhausted("no complete state was reached from depth " + std::to_string(visited->depth) +
                                  "; a larger beta, beta2 or memory_limit keeps more states");
        }
        const Candidate best = children.pop();
        visited = visit(best, rebuild(best));
    }
    record_.add(solution(visited));
}

template <SearchSpace S>
void Mb2fbs<S>::add_complete(const VisitedRef &visited) {
    passes_.back().complete_states++;
    record_.add(solution(visited));
    complete_.push_back(visited);
}

template <SearchSpace S>
typename Mb2fbs<S>::VisitedRef Mb2fbs<S>::visit(const Candidate &candidate, State state) const {
    return std::make_shared<const Visited>(Visited{std::move(state), candidate.parent, candidate.action,
                                                   candidate.parent->depth + 1, candidate.cost, candidate.model_cost});
}

template <SearchSpace S>
Solution<typename S::State> Mb2fbs<S>::solution(const VisitedRef &visited) {
    std::vector<uint32_t> actions;
    for (const Visited *at = visited.get(); at->parent; at = at->parent.get()) {
        actions.push_back(at->action);
    }
    std::reverse(actions.begin(), actions.end());
    return {visited->state, visited->model_cost, std::move(actions)};
}

// What the paper asks of M: below, every state could be dropped before one is complete. Without pushing onward, all
// states of a queue have one depth, so that each iteration reaches the next.
template <SearchSpace S>
void Mb2fbs<S>::check_options() const {
    const auto require = [](bool holds, const std::string &what) {
        if (!holds) {
            throw InvalidParameter(what);
        }
    };
    const auto at_least = [&](const char *name, int64_t value, int64_t minimum, const char *why) {
        require(value >= minimum, std::string(name) + " is " + std::to_string(value) + "; it must be at least " +
                                      std::to_string(minimum) + why);
    };
    at_least("beta1", options_.beta1, 1, "");
    at_least("beta2", options_.beta2, 0, "");
    at_least("beta", options_.beta, 1, "");
    at_least("passes", options_.passes, 1, "");
    const auto finite = [](int64_t value, int64_t otherwise) {
        return value == Mb2fbsOptions::unlimited ? otherwise : value;
    };
    if (options_.beta2 == 0) {
        at_least("memory", options_.memory, finite(options_.beta1, 1), ", which is beta1");
    } else if (options_.beta != Mb2fbsOptions::unlimited) {
        require(options_.memory / options_.beta >= space_.max_depth(),
                "memory is " + std::to_string(options_.memory) +
                    "; with a limit on the expansions per depth it must be "
                    "at least beta times the depth of the tree, " +
                    std::to_string(options_.beta) + " * " + std::to_string(space_.max_depth()) + ", or None");
    } else {
        at_least("memory", options_.memory, finite(options_.beta1, 1) + finite(options_.beta2, 1),
                 ", which is beta1 + beta2 (1 for an infinite one)");
    }
}

}  // namespace halidegym
