#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "problem/error.h"
#include "search/search_result.h"
#include "search/spaces/search_space.h"

namespace halidegym {

// Multi-pass coarse-to-fine beam search (Adams et al. 2019, section 3). Sections and quirks are those of
// docs/specification/search-and-cost-model.md.
//
// A pass goes level by level, all states of a level having the same number of decisions, and expands the `beam_size`
// best. From the second pass on, states that resemble a good state of an earlier pass are preferred: states are
// compared by a structural hash that looks one level deeper in every pass, and those whose hash repeats or is not
// permitted are penalized. A beam of one is a greedy search and needs no second pass.
struct BeamOptions {
    int beam_size = 32;
    int passes = 0;            // 0: one for a beam of one, else five
    int random_dropout = 100;  // percent of runs in which no state is dropped at random; 100 and more: none ever is
    uint32_t seed = 0;
};

template <SearchSpace S>
class BeamSearch {
public:
    BeamSearch(S &space, const BeamOptions &options, const Budget &budget)
        : space_(space), options_(options),
          passes_(options.passes > 0 ? options.passes : (options.beam_size == 1 ? 1 : 5)),
          hashing_(options.beam_size > 1 && passes_ > 1), record_(budget), random_(options.seed) {
        if (options.beam_size < 1) {
            throw InvalidParameter("beam_size is " + std::to_string(options.beam_size) + "; it must be at least 1");
        }
        if (options.passes < 0) {
            throw InvalidParameter("passes is " + std::to_string(options.passes) +
                                   "; it must be positive, or 0 for the default");
        }
    }

    SearchResult<typename S::State> run() {
        for (int pass = 0; pass < passes_ && !record_.result.interrupted; pass++) {
            run_pass(pass);
        }
        return record_.finish();
    }

private:
    using State = typename S::State;
    using Decision = typename S::Decision;

    // A state that was expanded or finished, with the way to it.
    struct Visited {
        State state;
        std::shared_ptr<const Visited> parent;
        uint32_t action;
        double cost;        // penalties included
        double model_cost;  // as the space gave it
    };
    using VisitedRef = std::shared_ptr<const Visited>;

    // A child in the queue. Its state is built again when it is popped, so that a level of hundred thousands stays
    // small.
    struct Candidate {
        double cost;
        double model_cost;
        uint32_t parent;
        uint32_t action;
        Decision decision;
        bool penalized = false;
    };

    // All candidates of one level, and the heap that orders them. The heap holds indices and is driven by the library's
    // heap functions, as they decide about states of equal cost (section 2.9). So do the batches in which costs become
    // visible: until its batch is full or the level ends, a candidate's cost is 0 (section 2.8).
    static constexpr size_t batch_size = 1024;
    struct Level {
        std::vector<VisitedRef> parents;
        std::vector<Candidate> candidates;
        std::vector<uint32_t> heap;
        std::vector<uint32_t> batch;  // whose costs are not visible yet

        auto later() const {
            return [this](uint32_t a, uint32_t b) { return candidates[a].cost > candidates[b].cost; };
        }
        void push(uint32_t index) {
            heap.push_back(index);
            std::push_heap(heap.begin(), heap.end(), later());
        }
        uint32_t pop() {
            std::pop_heap(heap.begin(), heap.end(), later());
            const uint32_t top = heap.back();
            heap.pop_back();
            return top;
        }
        double top_cost() const { return candidates[heap.front()].cost; }
        void reveal_costs() {
            for (const uint32_t index : batch) {
                candidates[index].cost = candidates[index].model_cost;
            }
            batch.clear();
        }
    };

    void run_pass(int pass);
    void expand(const VisitedRef &visited, Level &next);
    void close(Level &level, int depth) const;
    bool is_deferred(Level &level, uint32_t index, const State &state, int pass,
                     std::unordered_map<uint64_t, int> &seen) const;
    bool is_dropped();
    void finish_pass(int pass, Level &level, VisitedRef result);
    void complete_greedily(VisitedRef visited);
    State rebuild(const Level &level, uint32_t index) const;
    VisitedRef visit(const Level &level, uint32_t index, State state) const;
    Solution<State> solution(const VisitedRef &visited) const;

    S &space_;
    const BeamOptions options_;
    const int passes_;
    const bool hashing_;
    SearchRecord<State> record_;
    std::mt19937 random_;
    std::unordered_set<uint64_t> permitted_hashes_;  // of good states of earlier passes, at the depth of their pass
};

template <SearchSpace S>
void BeamSearch<S>::run_pass(int pass) {
    Level level;
    expand(std::make_shared<const Visited>(Visited{space_.root(), nullptr, 0, 0, 0}), level);
    for (int depth = 1;; depth++) {
        close(level, depth);
        Level next;
        std::unordered_map<uint64_t, int> seen;
        for (int expanded = 0; expanded < options_.beam_size && !level.heap.empty();) {
            const uint32_t index = level.pop();
            State state = rebuild(level, index);
            if (!record_.may_continue(pass, depth)) {
                if (record_.result.solutions.empty()) {
                    complete_greedily(visit(level, index, std::move(state)));
                }
                return;
            }
            if (hashing_ && is_deferred(level, index, state, pass, seen)) {
                continue;
            }
            if (level.heap.size() > 1 && is_dropped()) {
                continue;
            }
            VisitedRef visited = visit(level, index, std::move(state));
            if (space_.is_complete(visited->state)) {
                finish_pass(pass, level, std::move(visited));
                return;
            }
            expand(visited, next);
            expanded++;
        }
        level = std::move(next);
    }
}

template <SearchSpace S>
void BeamSearch<S>::expand(const VisitedRef &visited, Level &next) {
    record_.result.expansions++;
    next.parents.push_back(visited);
    const auto parent = static_cast<uint32_t>(next.parents.size() - 1);
    auto children = space_.children(visited->state);
    uint32_t action = 0;
    for (const Decision &decision : children.decisions()) {
        const bool inherits = space_.inherits_cost(decision);
        const auto cost = inherits ? std::optional(visited->model_cost) : space_.cost(children.child(decision));
        if (cost) {
            const auto index = static_cast<uint32_t>(next.candidates.size());
            if (!inherits) {
                record_.result.evaluations++;
                if (next.batch.size() == batch_size) {
                    next.reveal_costs();
                }
                next.batch.push_back(index);
            }
            next.candidates.push_back({.cost = inherits ? visited->cost : 0,
                                       .model_cost = *cost,
                                       .parent = parent,
                                       .action = action,
                                       .decision = decision});
            next.push(index);
        }
        action++;
    }
}

// Every cost of the level is known now, and a level without states ends the search.
template <SearchSpace S>
void BeamSearch<S>::close(Level &level, int depth) const {
    level.reveal_costs();
    if (level.heap.empty()) {
        throw SearchExhausted("no legal schedule is left after " + std::to_string(depth - 1) +
                              " decisions; a larger beam_size or memory_limit keeps more of them");
    }
    std::make_heap(level.heap.begin(), level.heap.end(), level.later());
}

// Section 2.5: penalizes a state whose like was seen at this level already, or in no good state of the pass before.
// Returns whether a cheaper one is waiting, in which case the state went back to the queue.
template <SearchSpace S>
bool BeamSearch<S>::is_deferred(Level &level, uint32_t index, const State &state, int pass,
                                std::unordered_map<uint64_t, int> &seen) const {
    Candidate &candidate = level.candidates[index];
    if (candidate.penalized) {
        return false;
    }
    int penalty = ++seen[space_.hash(state, pass + 1)];
    if (pass > 0 && !permitted_hashes_.contains(space_.hash(state, pass - 1))) {
        penalty += 10;
    }
    if (penalty <= 1) {
        return false;
    }
    candidate.penalized = true;
    candidate.cost *= penalty;
    if (!level.heap.empty() && candidate.cost > level.top_cost()) {
        level.push(index);
        return true;
    }
    return false;
}

// Section 2.6.
template <SearchSpace S>
bool BeamSearch<S>::is_dropped() {
    if (options_.random_dropout >= 100) {
        return false;
    }
    const double exponent = 1.0f / static_cast<float>(space_.max_depth());
    const double threshold = 100 * std::pow(options_.random_dropout / 100.0, exponent);
    return static_cast<double>(random_() % 100) >= threshold;
}

// Section 2.7: the pass is over; what resembles its good states is welcome in the next one.
template <SearchSpace S>
void BeamSearch<S>::finish_pass(int pass, Level &level, VisitedRef result) {
    record_.result.pass_costs.push_back(result->cost);
    record_.result.pass_solutions.push_back(solution(result));
    record_.add(solution(result));
    if (pass + 1 == passes_) {
        return;
    }
    const double worst_blessed = 1.2 * result->cost;
    VisitedRef blessed = std::move(result);
    for (int count = 0; blessed->cost <= worst_blessed && count < options_.beam_size; count++) {
        for (const Visited *ancestor = blessed.get(); ancestor; ancestor = ancestor->parent.get()) {
            permitted_hashes_.insert(space_.hash(ancestor->state, pass));
        }
        if (level.heap.empty()) {
            return;
        }
        const uint32_t index = level.pop();
        blessed = visit(level, index, rebuild(level, index));
    }
}

// The search was stopped before any pass ended: the best child each time leads to a complete state soon.
template <SearchSpace S>
void BeamSearch<S>::complete_greedily(VisitedRef visited) {
    while (!space_.is_complete(visited->state)) {
        Level level;
        expand(visited, level);
        close(level, space_.depth(visited->state) + 1);
        const uint32_t index = level.pop();
        visited = visit(level, index, rebuild(level, index));
    }
    record_.add(solution(visited));
}

template <SearchSpace S>
typename S::State BeamSearch<S>::rebuild(const Level &level, uint32_t index) const {
    const Candidate &candidate = level.candidates[index];
    return space_.apply(level.parents[candidate.parent]->state, candidate.decision);
}

template <SearchSpace S>
typename BeamSearch<S>::VisitedRef BeamSearch<S>::visit(const Level &level, uint32_t index, State state) const {
    const Candidate &candidate = level.candidates[index];
    return std::make_shared<const Visited>(Visited{std::move(state), level.parents[candidate.parent], candidate.action,
                                                   candidate.cost, candidate.model_cost});
}

template <SearchSpace S>
Solution<typename S::State> BeamSearch<S>::solution(const VisitedRef &visited) const {
    std::vector<uint32_t> actions;
    for (const Visited *at = visited.get(); at->parent; at = at->parent.get()) {
        actions.push_back(at->action);
    }
    std::reverse(actions.begin(), actions.end());
    return {visited->state, visited->model_cost, std::move(actions)};
}

}  // namespace halidegym
