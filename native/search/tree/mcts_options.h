#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "search/search_result.h"
#include "search/tree/tree_policy.h"

namespace halidegym {

// Monte Carlo tree search with an ensemble of trees (`Mcts`).
struct MctsOptions {
    enum class Winner { Best, Average, Candidate };

    int trees = 16;
    int greedy_trees = 1;                          // of these, how many simulate greedily
    double epsilon = 0;                            // probability of a greedy step in the simulations of the others
    int draws = 1;                                 // their random children are the best of so many
    std::optional<int> first_beam = std::nullopt;  // size of a beam whose first pass gives the first complete state
    int first_draws = 0;  // random complete states of which the best is the first; 0: a greedy one, if any is wanted
    // In the simulations of the others, steps that do not repeat the best known state, on average; infinity: none does.
    double deviations = std::numeric_limits<double>::infinity();
    std::optional<int64_t> iterations = std::nullopt;  // of each tree at each decision
    // At each decision, shared by the trees of a thread; infinity: no limit.
    double seconds_per_decision = std::numeric_limits<double>::infinity();
    TreePolicy policy;
    // At each decision, of the root's decisions so many are drawn from a policy and halved until one is left
    // (`GumbelRoot`); empty: all compete.
    std::optional<int> candidates = std::nullopt;
    Winner winner = Winner::Best;
    bool tells_roots = false;  // whether the result tells what became of the decisions that were tried at each root
    double widening = 1;
    // Of a budget for all decisions, what is left for them falls with this power of their number: 1 divides it evenly,
    // more favours the first.
    double front_loading = 1;
    int64_t tree_memory = int64_t{1} << 30;  // bytes of all nodes
    int threads = 1;
    uint32_t seed = 0;

    // Without limits for each decision, a budget for the whole search is divided among them.
    bool divides_budget() const {
        return !iterations && seconds_per_decision == std::numeric_limits<double>::infinity();
    }
};

void check(const MctsOptions &options);

// Also whether the search has an end within a budget.
const MctsOptions &checked(const MctsOptions &options, const Budget &budget);

}  // namespace halidegym
