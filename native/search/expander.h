#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "problem/error.h"
#include "search/expansion_memo.h"
#include "search/search_result.h"
#include "search/spaces/optional_hooks.h"
#include "search/spaces/search_space.h"
#include "search/visited.h"
#include "search/worker_threads.h"

namespace halidegym {

// What listed the decisions is given up with them: to keep it for the few children that are built takes more time and
// memory than to make it again.
template <SearchSpace S>
RatedChildren<S> rate_children(S &space, const Visited<typename S::State> &visited) {
    auto children = children_to_rate(space, visited.state);
    std::vector<RatedChild<S>> rated;
    uint32_t action = 0;
    for (const auto &decision : children.decisions()) {
        const bool inherits = space.inherits_cost(decision);
        const auto cost = inherits ? std::optional(visited.model_cost) : cost_of_child(space, children, decision);
        if (cost) {
            rated.push_back({decision, action, inherits, static_cast<typename CostOf<S>::Type>(*cost)});
        }
        action++;
    }
    rated.shrink_to_fit();
    return std::make_shared<const std::vector<RatedChild<S>>>(std::move(rated));
}

// Expands states: recalls what earlier passes found, and rates what is new, on several threads if it has them. What is
// found and counted does not depend on either.
template <SearchSpace S>
class Expander {
public:
    using State = typename S::State;
    using VisitedRef = halidegym::VisitedRef<State>;

    Expander(S &space, int passes, int threads = 1) : space_(space), memo_(is_watched(space) ? 1 : passes) {
        if (threads > 1 && !is_watched(space)) {
            threads_.emplace(space, threads);
        }
    }

    void begin_pass(int pass) { memo_.begin_pass(pass); }

    // How many states to expand at a time.
    size_t batch_size() const { return threads_ ? 16 * threads_->size() : 1; }

    // A child that was taken off a queue.
    VisitedRef visit(const VisitedRef &parent, const QueuedChild<S> &child, State state) {
        return halidegym::visit<S>(parent, child, std::move(state), memo_.extend(parent->way, child.action));
    }

    // States that are expanded one after another, threads going ahead with the next ones.
    class Batch {
    public:
        // Complete states are not expanded. The states must outlive the batch.
        Batch(Expander &expander, const std::vector<VisitedRef> &states) : expander_(expander), states_(states) {
            for (const VisitedRef &visited : states) {
                rated_.push_back(expander.memo_.find(visited->way));
                known_.push_back(rated_.back() != nullptr);
            }
            if (expander.threads_ && states.size() > 1) {
                job_.emplace(*expander.threads_, states.size(), [this](S &space, size_t i) { rate(space, i); });
            }
        }

        // What the i-th state, which is not complete, has for children. Counts the expansion, and the costs that were
        // asked for.
        RatedChildren<S> take(size_t i, SearchResult<State> &counts) {
            if (job_) {
                job_->wait_for(i);
            } else {
                rate(expander_.space_, i);
            }
            RatedChildren<S> &rated = rated_[i];
            if (!rated) {
                throw InvalidParameter(
                    "a state that is complete has no decision left, and the root of a space, or a state "
                    "that was not complete before, is; let is_complete always say the same of a state, and "
                    "begin with something to decide");
            }
            const int64_t asked =
                std::ranges::count_if(*rated, [](const RatedChild<S> &child) { return !child.inherits; });
            counts.expansions++;
            counts.evaluations += asked;
            if (known_[i]) {
                counts.remembered_evaluations += asked;
            } else {
                expander_.memo_.remember(states_[i]->way, rated);
            }
            return std::move(rated);
        }

        // What was not taken is not wanted.
        void abandon() { job_.reset(); }

    private:
        void rate(S &space, size_t i) {
            if (!known_[i] && !space.is_complete(states_[i]->state)) {
                rated_[i] = rate_children(space, *states_[i]);
            }
        }

        Expander &expander_;
        const std::vector<VisitedRef> &states_;
        std::vector<RatedChildren<S>> rated_;
        std::vector<bool> known_;
        std::optional<typename WorkerThreads<S>::Job> job_;  // destroyed first: it works with the rest
    };

    // A single state.
    RatedChildren<S> expand(const VisitedRef &visited, SearchResult<State> &counts) {
        const std::vector<VisitedRef> states{visited};
        return Batch(*this, states).take(0, counts);
    }

private:
    S &space_;
    ExpansionMemo<S> memo_;
    std::optional<WorkerThreads<S>> threads_;
};

}  // namespace halidegym
