#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "problem/error.h"
#include "problem/tie_order.h"
#include "search/coarse_to_fine.h"
#include "search/parameters.h"
#include "search/search_result.h"
#include "search/spaces/search_space.h"
#include "search/visited.h"

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
    std::optional<int> passes = std::nullopt;  // by default one for a beam of one, else five
    int random_dropout = 100;  // percent of runs in which no state is dropped at random; 100: none ever is
    uint32_t seed = 0;

    int num_passes() const { return passes.value_or(beam_size == 1 ? 1 : 5); }
};

inline void check(const BeamOptions &options) {
    require_at_least("beam_size", options.beam_size, 1);
    require_at_least("passes", options.num_passes(), 1);
    require_from_to("random_dropout", options.random_dropout, 0, 100);
}

template <SearchSpace S>
class BeamSearch {
public:
    BeamSearch(S &space, const BeamOptions &options, const Budget &budget)
        : space_(space), options_(checked(options)), passes_(options.num_passes()), record_(budget),
          history_(space, options.beam_size > 1 && passes_ > 1), random_(options.seed) {}

    SearchResult<typename S::State> run() {
        for (int pass = 0; pass < passes_ && !record_.is_stopped(); pass++) {
            run_pass(pass);
        }
        return record_.finish();
    }

private:
    using State = typename S::State;
    using VisitedRef = halidegym::VisitedRef<State>;

    struct Queued : QueuedChild<S> {
        uint32_t parent;
    };

    // The children of one depth, and the heap that orders them. The heap holds indices and is driven by tie_order's
    // heap functions, as they decide about states of equal cost (section 2.9). So do the batches in which costs become
    // visible: until its batch is full or the level ends, a child's cost is 0 (section 2.8).
    class Frontier {
    public:
        void add_parent(VisitedRef visited) { parents_.push_back(std::move(visited)); }

        // A child of the last parent.
        void push(QueuedChild<S> child, bool inherits) {
            const auto index = static_cast<uint32_t>(queued_.size());
            if (!inherits) {
                if (batch_.size() == batch_size) {
                    reveal_costs();
                }
                batch_.push_back(index);
                child.cost = 0;
            }
            queued_.push_back({std::move(child), static_cast<uint32_t>(parents_.size() - 1)});
            push(index);
        }

        // Every cost is known now.
        void close() {
            reveal_costs();
            tie_order::make_heap(std::span(heap_), later());
        }

        size_t size() const { return heap_.size(); }
        Queued &operator[](uint32_t index) { return queued_[index]; }
        double top_cost() const { return queued_[heap_.front()].cost; }
        const VisitedRef &parent(uint32_t index) const { return parents_[queued_[index].parent]; }

        void push(uint32_t index) {
            heap_.push_back(index);
            tie_order::push_heap(std::span(heap_), later());
        }
        uint32_t pop() {
            tie_order::pop_heap(std::span(heap_), later());
            const uint32_t top = heap_.back();
            heap_.pop_back();
            return top;
        }

    private:
        static constexpr size_t batch_size = 1024;

        auto later() const {
            return [this](uint32_t a, uint32_t b) { return queued_[a].cost > queued_[b].cost; };
        }
        void reveal_costs() {
            for (const uint32_t index : batch_) {
                queued_[index].cost = queued_[index].model_cost;
            }
            batch_.clear();
        }

        std::vector<VisitedRef> parents_;
        std::vector<Queued> queued_;
        std::vector<uint32_t> heap_;
        std::vector<uint32_t> batch_;  // whose costs are not visible yet
    };

    void run_pass(int pass);
    void expand(const VisitedRef &visited, Frontier &next);
    void close(Frontier &frontier, int depth) const;
    bool is_deferred(Frontier &frontier, uint32_t index, const State &state, int pass);
    bool is_dropped();
    void finish_pass(int pass, Frontier &frontier, VisitedRef result);
    void complete_greedily(VisitedRef visited);
    State rebuild(Frontier &frontier, uint32_t index) {
        return space_.apply(frontier.parent(index)->state, frontier[index].decision);
    }
    VisitedRef visit(Frontier &frontier, uint32_t index, State state) const {
        return halidegym::visit<S>(frontier.parent(index), frontier[index], std::move(state));
    }

    S &space_;
    const BeamOptions options_;
    const int passes_;
    SearchRecord<State> record_;
    CoarseToFine<S> history_;
    std::mt19937 random_;
};

template <SearchSpace S>
void BeamSearch<S>::run_pass(int pass) {
    Frontier frontier;
    expand(visit_root(space_.root()), frontier);
    for (int depth = 1;; depth++) {
        close(frontier, depth);
        Frontier next;
        history_.begin_level();
        for (int expanded = 0; expanded < options_.beam_size && frontier.size() > 0;) {
            const uint32_t index = frontier.pop();
            State state = rebuild(frontier, index);
            if (!record_.may_continue(pass, depth)) {
                if (record_.result.solutions.empty()) {
                    complete_greedily(visit(frontier, index, std::move(state)));
                }
                return;
            }
            if (is_deferred(frontier, index, state, pass)) {
                continue;
            }
            if (frontier.size() > 1 && is_dropped()) {
                continue;
            }
            VisitedRef visited = visit(frontier, index, std::move(state));
            if (space_.is_complete(visited->state)) {
                finish_pass(pass, frontier, std::move(visited));
                return;
            }
            expand(visited, next);
            expanded++;
        }
        frontier = std::move(next);
    }
}

template <SearchSpace S>
void BeamSearch<S>::expand(const VisitedRef &visited, Frontier &next) {
    next.add_parent(visited);
    halidegym::expand(space_, *visited, record_.result,
                      [&](QueuedChild<S> child, bool inherits) { next.push(std::move(child), inherits); });
}

// A level without states ends the search.
template <SearchSpace S>
void BeamSearch<S>::close(Frontier &frontier, int depth) const {
    if (frontier.size() == 0) {
        throw SearchExhausted("no legal schedule is left after " + std::to_string(depth - 1) +
                              " decisions; a larger beam_size or memory_limit keeps more of them");
    }
    frontier.close();
}

// Whether a cheaper one is waiting when a state is penalized, in which case it went back to the queue.
template <SearchSpace S>
bool BeamSearch<S>::is_deferred(Frontier &frontier, uint32_t index, const State &state, int pass) {
    if (!history_.penalize(frontier[index], state, pass) || frontier.size() == 0 ||
        frontier[index].cost <= frontier.top_cost()) {
        return false;
    }
    frontier.push(index);
    return true;
}

// Section 2.6.
template <SearchSpace S>
bool BeamSearch<S>::is_dropped() {
    if (options_.random_dropout == 100) {
        return false;
    }
    const double exponent = 1.0f / static_cast<float>(space_.max_depth());
    const double threshold = 100 * std::pow(options_.random_dropout / 100.0, exponent);
    return static_cast<double>(random_() % 100) >= threshold;
}

// Section 2.7: the pass is over; what resembles its good states is welcome in the next one.
template <SearchSpace S>
void BeamSearch<S>::finish_pass(int pass, Frontier &frontier, VisitedRef result) {
    record_.end_pass(solution_of<State>(result), result->cost);
    record_.add(solution_of<State>(result));
    if (pass + 1 == passes_) {
        return;
    }
    const double worst_welcome = history_.worst_welcome(result->cost);
    VisitedRef good = std::move(result);
    for (int count = 0; good->cost <= worst_welcome && count < options_.beam_size; count++) {
        history_.welcome(good, pass);
        if (frontier.size() == 0) {
            return;
        }
        const uint32_t index = frontier.pop();
        good = visit(frontier, index, rebuild(frontier, index));
    }
}

// The search was stopped before any pass ended: the best child each time leads to a complete state soon.
template <SearchSpace S>
void BeamSearch<S>::complete_greedily(VisitedRef visited) {
    while (!space_.is_complete(visited->state)) {
        Frontier frontier;
        expand(visited, frontier);
        close(frontier, space_.depth(visited->state) + 1);
        const uint32_t index = frontier.pop();
        visited = visit(frontier, index, rebuild(frontier, index));
    }
    record_.add(solution_of<State>(visited));
}

}  // namespace halidegym
