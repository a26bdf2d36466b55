#include "search/tree/mcts_options.h"

#include "search/parameters.h"

namespace halidegym {

// Trees and threads have a limit, too: each takes memory before the search has begun.
void check(const MctsOptions &options) {
    constexpr int max_trees = 1 << 16;
    require_from_to("trees", options.trees, 1, max_trees);
    require_from_to("greedy_trees", options.greedy_trees, 0, options.trees);
    require_range("epsilon", options.epsilon, options.epsilon >= 0 && options.epsilon <= 1,
                  "a probability, from 0 to 1");
    require_at_least("draws", options.draws, 1);
    require_at_least("first_beam", options.first_beam.value_or(1), 1);
    require_at_least("first_draws", options.first_draws, 0);
    require_positive("deviations", options.deviations);
    require_at_least("iterations", options.iterations.value_or(1), 1);
    require_positive("seconds_per_decision", options.seconds_per_decision);
    require_at_least("candidates", options.candidates.value_or(1), 1);
    require(options.winner != MctsOptions::Winner::Candidate || options.candidates,
            "winner=\"candidate\" is given without candidates; give their number, or another winner");
    require(
        options.winner != MctsOptions::Winner::Candidate || !options.tells_roots,
        "winner=\"candidate\" looks at the last candidate alone, so tells_roots has nothing to tell; leave it out, or "
        "give another winner");
    require_positive("widening", options.widening);
    require_positive("front_loading", options.front_loading);
    require_at_least("tree_memory", options.tree_memory, 1);
    require_from_to("threads", options.threads, 1, max_trees);
    check(options.policy);
}

const MctsOptions &checked(const MctsOptions &options, const Budget &budget) {
    check(options);
    require(!options.divides_budget() || !budget.is_unlimited(),
            "a tree search has no end of its own; give iterations, seconds or a budget");
    return options;
}

}  // namespace halidegym
