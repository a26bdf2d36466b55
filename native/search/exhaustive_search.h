#pragma once

#include <deque>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "problem/error.h"
#include "search/search_result.h"
#include "search/spaces/optional_hooks.h"
#include "search/spaces/search_space.h"
#include "search/spaces/splitmix.h"

namespace halidegym {

// Visits every complete state, depth first and in the order of the decisions, and evaluates each once: if nothing
// interrupts it, the number of evaluations is that of the complete states, and the first solution is an optimum. For
// small spaces only.
template <SearchSpace S>
class ExhaustiveSearch {
public:
    ExhaustiveSearch(S &space, const Budget &budget) : space_(space), record_(budget) {}

    SearchResult<typename S::State> run() {
        visit(space_.root());
        visit_below();
        if (!record_.has_found()) {
            throw exhausted<S>("no complete state is acceptable");
        }
        return record_.finish();
    }

private:
    using State = typename S::State;
    using Decision = typename S::Decision;

    // A state that is expanded. Levels are no calls of functions, as a space may be deeper than the stack.
    struct Level {
        Level(S &space, State expanded) : state(std::move(expanded)), children(space.children(state)) {}

        State state;
        typename S::Children children;
        uint32_t next = 0;
    };

    void visit_below() {
        while (!levels_.empty()) {
            Level &level = levels_.back();
            const auto decisions = level.children.decisions();
            if (level.next == decisions.size()) {
                levels_.pop_back();
                leave();
                continue;
            }
            if (is_over()) {
                return;
            }
            actions_.push_back(level.next);
            visit(level.children.child(decisions[level.next++]));
        }
    }

    void visit(State state) {
        if (space_.is_complete(state)) {
            evaluate(state);
            leave();
            return;
        }
        record_.result.expansions++;
        levels_.emplace_back(space_, std::move(state));
    }

    void leave() {
        if (!actions_.empty()) {
            actions_.pop_back();
        }
    }

    void evaluate(const State &state) {
        const auto cost = space_.cost(state);
        if (!cost) {
            return;
        }
        record_.result.evaluations++;
        if (record_.would_keep(*cost)) {
            record_.add({state, *cost, actions_});
        }
    }

    // A budget ends the search only once there is something to return.
    bool is_over() { return !record_.may_continue(0, static_cast<int>(actions_.size())) && record_.has_found(); }

    S &space_;
    SearchRecord<State> record_;
    std::deque<Level> levels_;       // expanded, from the root on
    std::vector<uint32_t> actions_;  // that lead to the state being visited
};

// An unbiased estimate of the number of complete states: the mean, over random walks, of the product of the numbers of
// decisions on the way (Knuth 1975, Estimating the efficiency of backtrack programs). Few walks meet the largest
// subtrees, so it tends to be too small. `pause` is called before each step, and may throw.
template <SearchSpace S>
double estimate_num_complete_states(S &space, int walks, uint32_t seed, const std::function<void()> &pause) {
    if (walks < 1) {
        throw InvalidParameter("walks is " + std::to_string(walks) + "; it must be at least 1");
    }
    std::mt19937_64 random(seed);
    double total = 0;
    for (int walk = 0; walk < walks; walk++) {
        auto state = space.root();
        double product = 1;
        while (product > 0 && !space.is_complete(state)) {
            pause();
            auto children = space.children(state);
            const auto decisions = children.decisions();
            product *= static_cast<double>(decisions.size());
            if (!decisions.empty()) {
                state = children.child(decisions[uniform_below(random, decisions.size())]);
            }
        }
        total += product;
    }
    return total / walks;
}

}  // namespace halidegym
