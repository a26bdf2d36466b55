#pragma once

#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "search/spaces/optional_hooks.h"
#include "search/spaces/search_space.h"
#include "search/spaces/splitmix.h"

namespace halidegym {

// A decision that was drawn, if there is one, and how many children were rated for that.
template <SearchSpace S>
struct Drawn {
    std::optional<typename S::Decision> decision;
    int64_t evaluations = 0;
};

// Of several draws, each of a decision or of nothing, the one whose child the model rates best; one alone is not rated.
template <SearchSpace S, typename Draw>
Drawn<S> best_drawn(S &space, typename S::Children &children, int draws, const Draw &draw) {
    Drawn<S> best{draw()};
    const auto rate = [&](const auto &decision) {
        best.evaluations++;
        return cost_of_child(space, children, decision);
    };
    std::optional<double> least;
    for (int i = 1; i < draws; i++) {
        const auto other = draw();
        if (!other || other == best.decision) {
            continue;
        }
        if (best.decision && best.evaluations == 0) {
            least = rate(*best.decision);
        }
        const auto cost = rate(*other);
        if (!best.decision || (cost && (!least || *cost < *least))) {
            best.decision = other;
            least = cost;
        }
    }
    return best;
}

// How a simulation chooses at each step, until the state is complete: unless it deviates, the decision that a leading
// state has at this depth, if it is legal; else with a probability the child that the model rates best (ProTuner,
// section 4.1); and otherwise one at random, or the best of some. To repeat what succeeded is the last-good-reply
// policy (Drake 2009, "The last-good-reply policy for Monte-Carlo Go") of a game without an opponent, with the depth
// for the situation.
struct SimulationPolicy {
    double greedy_probability = 0;
    double deviations = std::numeric_limits<double>::infinity();  // steps that are not repeated, on average
    int draws = 1;  // children that are drawn where one is wanted, of which the model rates that one best
};

template <typename State, typename Decision>
struct Simulation {
    std::optional<State> end;         // complete; empty if a state without legal decisions was met
    std::optional<double> cost;       // of the end, where it is known already
    std::vector<Decision> decisions;  // from the start to the end
    int64_t evaluations = 0;
    int64_t expansions = 0;
    int64_t forwards = 0;
    bool abandoned = false;

    bool needs_cost() const { return end && !cost && !abandoned; }
};

// The decision whose child the model rates best. Counts as an expansion of the state.
template <SearchSpace S>
std::optional<typename S::Decision> best_decision(S &space, typename S::Children &children,
                                                  Simulation<typename S::State, typename S::Decision> &simulation) {
    simulation.expansions++;
    const auto decisions = children.decisions();
    if (decisions.size() == 1) {
        simulation.cost = space.inherits_cost(decisions[0]) ? simulation.cost : std::nullopt;
        return decisions[0];
    }
    std::optional<typename S::Decision> best;
    std::optional<double> best_cost;
    for (const auto &decision : decisions) {
        simulation.evaluations++;
        const auto cost = cost_of_child(space, children, decision);
        if (cost && (!best_cost || *cost < *best_cost)) {
            best_cost = cost;
            best = decision;
        }
    }
    simulation.cost = best_cost;
    return best;
}

// `lead` has the decisions to repeat, that of `start` first. Before each greedy step, which may take long, `keep_going`
// is asked about the simulation so far; when it says no, the simulation is abandoned.
template <SearchSpace S, typename KeepGoing>
Simulation<typename S::State, typename S::Decision>
simulate(S &space, typename S::State start, SplitMix64 random, const SimulationPolicy &policy,
         std::span<const typename S::Decision> lead, const KeepGoing &keep_going) {
    Simulation<typename S::State, typename S::Decision> simulation;
    start_walk(space, start);
    choose_how_to_draw(space, random);
    simulation.end = std::move(start);
    const double num_steps = static_cast<double>(lead.size());
    const double replayed = policy.deviations < num_steps ? 1 - policy.deviations / num_steps : 0;
    while (!space.is_complete(*simulation.end)) {
        const size_t step = simulation.decisions.size();
        std::optional<typename S::Decision> next;
        auto children = children_of_walk(space, *simulation.end);
        if (replayed > 0 && step < lead.size() && draw_bool(random, replayed) &&
            is_legal(space, children, lead[step])) {
            next = lead[step];
        }
        const bool greedy = !next && policy.greedy_probability > 0 && draw_bool(random, policy.greedy_probability);
        if (greedy) {
            if (!keep_going(simulation)) {
                simulation.abandoned = true;
                return simulation;
            }
            children = space.children(*simulation.end);
            next = best_decision(space, children, simulation);
        } else if (!next) {
            const auto drawn =
                best_drawn(space, children, policy.draws, [&] { return random_decision(space, children, random); });
            const DrawCosts costs = take_draw_costs(space);
            simulation.evaluations += drawn.evaluations + costs.evaluations;
            simulation.forwards += costs.forwards;
            next = drawn.decision;
        }
        if (!next) {
            simulation.end.reset();
            return simulation;
        }
        if (!greedy && !space.inherits_cost(*next)) {
            simulation.cost.reset();
        }
        simulation.decisions.push_back(*next);
        simulation.end = next_of_walk(space, *std::move(simulation.end), children, *next);
    }
    return simulation;
}

}  // namespace halidegym
