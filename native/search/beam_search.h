#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "problem/tie_order.h"
#include "search/coarse_to_fine.h"
#include "search/expander.h"
#include "search/parameters.h"
#include "search/search_result.h"
#include "search/spaces/optional_hooks.h"
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
    int threads = 1;           // that rate children; what is found does not depend on it
    uint32_t seed = 0;

    int num_passes() const { return passes.value_or(beam_size == 1 ? 1 : 5); }
};

inline void check(const BeamOptions &options) {
    require_at_least("beam_size", options.beam_size, 1);
    require_at_least("passes", options.num_passes(), 1);
    require_from_to("random_dropout", options.random_dropout, 0, 100);
    require_from_to("threads", options.threads, 1, 1 << 16);
}

template <SearchSpace S>
class BeamSearch {
public:
    BeamSearch(S &space, const BeamOptions &options, const Budget &budget)
        : space_(space), options_(checked(options)), passes_(options.num_passes()), record_(budget),
          history_(space, options.beam_size > 1 && passes_ > 1),
          expander_(space, passes_, std::min(options.threads, options.beam_size)), random_(options.seed) {}

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
        void add(const VisitedRef &parent, const RatedChildren<S> &rated) {
            for (const RatedChild<S> &child : *rated) {
                push(queued_child<S>(child, *parent), child.inherits);
            }
            parents_.push_back({parent, std::nullopt});
        }

        // Every cost is known now.
        void close() {
            reveal_costs();
            tie_order::make_heap(std::span(heap_), later());
        }

        size_t size() const { return heap_.size(); }
        Queued &operator[](uint32_t index) { return queued_[index]; }
        double top_cost() const { return queued_[heap_.front()].cost; }
        const VisitedRef &parent(uint32_t index) const { return parents_[queued_[index].parent].visited; }
        // What builds a parent's children is made for the first one asked for.
        ProspectiveChild<S> child(S &space, uint32_t index) {
            Parent &parent = parents_[queued_[index].parent];
            if (!parent.children) {
                parent.children.emplace(unlisted_children(space, parent.visited->state));
            }
            return {space, *parent.children, queued_[index].decision};
        }

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

        struct Parent {
            VisitedRef visited;
            std::optional<typename S::Children> children;
        };

        // A child of the next parent.
        void push(QueuedChild<S> child, bool inherits) {
            const auto index = static_cast<uint32_t>(queued_.size());
            if (!inherits) {
                if (batch_.size() == batch_size) {
                    reveal_costs();
                }
                batch_.push_back(index);
                child.cost = 0;
            }
            queued_.push_back({std::move(child), static_cast<uint32_t>(parents_.size())});
            push(index);
        }

        auto later() const {
            return [this](uint32_t a, uint32_t b) { return queued_[a].cost > queued_[b].cost; };
        }
        void reveal_costs() {
            for (const uint32_t index : batch_) {
                queued_[index].cost = queued_[index].model_cost;
            }
            batch_.clear();
        }

        std::vector<Parent> parents_;
        std::vector<Queued> queued_;
        std::vector<uint32_t> heap_;
        std::vector<uint32_t> batch_;  // whose costs are not visible yet
    };

    void run_pass(int pass);
    std::vector<VisitedRef> take(Frontier &frontier, size_t at_most, int pass);
    void close(Frontier &frontier, int depth) const;
    bool is_deferred(Frontier &frontier, uint32_t index, ProspectiveChild<S> &child, int pass);
    bool is_dropped();
    void finish_pass(int pass, Frontier &frontier, VisitedRef result);
    void complete_greedily(VisitedRef visited);
    VisitedRef visit(Frontier &frontier, uint32_t index) {
        return visit(frontier, index, frontier.child(space_, index).state());
    }
    VisitedRef visit(Frontier &frontier, uint32_t index, const State &state) {
        return expander_.visit(frontier.parent(index), frontier[index], state);
    }

    S &space_;
    const BeamOptions options_;
    const int passes_;
    SearchRecord<State> record_;
    CoarseToFine<S> history_;
    Expander<S> expander_;
    std::mt19937 random_;
};

template <SearchSpace S>
void BeamSearch<S>::run_pass(int pass) {
    expander_.begin_pass(pass);
    Frontier frontier;
    const VisitedRef root = visit_root(space_.root());
    frontier.add(root, expander_.expand(root, record_.result));
    for (int depth = 1;; depth++) {
        close(frontier, depth);
        Frontier next;
        history_.begin_level();
        for (auto left = static_cast<size_t>(options_.beam_size); left > 0 && frontier.size() > 0;) {
            const std::vector<VisitedRef> taken = take(frontier, std::min(left, expander_.batch_size()), pass);
            left -= taken.size();
            typename Expander<S>::Batch batch(expander_, taken);
            for (size_t i = 0; i < taken.size(); i++) {
                if (!record_.may_continue(pass, depth)) {
                    batch.abandon();
                    if (!record_.has_found()) {
                        complete_greedily(taken[i]);
                    }
                    return;
                }
                if (space_.is_complete(taken[i]->state)) {
                    finish_pass(pass, frontier, taken[i]);
                    return;
                }
                next.add(taken[i], batch.take(i, record_.result));
            }
        }
        frontier = std::move(next);
    }
}

// The next states of a level, at least one; a complete one is the last. They do not depend on the children of those
// before, which belong to the next level.
template <SearchSpace S>
std::vector<typename BeamSearch<S>::VisitedRef> BeamSearch<S>::take(Frontier &frontier, size_t at_most, int pass) {
    std::vector<VisitedRef> taken;
    while (taken.size() < at_most && frontier.size() > 0) {
        const uint32_t index = frontier.pop();
        ProspectiveChild<S> child = frontier.child(space_, index);
        if (is_deferred(frontier, index, child, pass) || (frontier.size() > 1 && is_dropped())) {
            continue;
        }
        taken.push_back(visit(frontier, index, child.state()));
        if (space_.is_complete(taken.back()->state)) {
            break;
        }
    }
    return taken;
}

// A level without states ends the search.
template <SearchSpace S>
void BeamSearch<S>::close(Frontier &frontier, int depth) const {
    if (frontier.size() == 0) {
        throw exhausted<S>("no acceptable state is left after " + std::to_string(depth - 1) + " decisions",
                           ", and a larger beam_size keeps more of them");
    }
    frontier.close();
}

// Whether a cheaper one is waiting when a state is penalized, in which case it went back to the queue.
template <SearchSpace S>
bool BeamSearch<S>::is_deferred(Frontier &frontier, uint32_t index, ProspectiveChild<S> &child, int pass) {
    const auto hash = [&](int depth) { return child.hash(depth); };
    if (!history_.penalize(frontier[index], hash, pass) || frontier.size() == 0 ||
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
        good = visit(frontier, frontier.pop());
    }
}

// The search was stopped before any pass ended: the best child each time leads to a complete state soon.
template <SearchSpace S>
void BeamSearch<S>::complete_greedily(VisitedRef visited) {
    while (!space_.is_complete(visited->state)) {
        Frontier frontier;
        frontier.add(visited, expander_.expand(visited, record_.result));
        close(frontier, space_.depth(visited->state) + 1);
        visited = visit(frontier, frontier.pop());
    }
    record_.add(solution_of<State>(visited));
}

}  // namespace halidegym
