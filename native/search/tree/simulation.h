#pragma once

#include <limits>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "search/spaces/optional_hooks.h"
#include "search/spaces/search_space.h"
#include "search/spaces/splitmix.h"

namespace halidegym {

// A child that was drawn, if there is one, and how many were rated for that.
template <SearchSpace S>
struct Drawn {
    std::optional<Step<S>> child;
    int64_t evaluations = 0;
};

// Of several draws, each of a child or of nothing, the child that the model rates best; one alone is not rated.
template <SearchSpace S, typename Draw>
Drawn<S> best_drawn(S &space, int draws, const Draw &draw) {
    Drawn<S> best{draw()};
    const auto rate = [&](const auto &child) {
        best.evaluations++;
        return space.cost(child->second);
    };
    std::optional<double> least;
    for (int i = 1; i < draws; i++) {
        auto other = draw();
        if (!other || (best.child && other->first == best.child->first)) {
            continue;
        }
        if (best.child && best.evaluations == 0) {
            least = rate(best.child);
        }
        const auto cost = rate(other);
        if (!best.child || (cost && (!least || *cost < *least))) {
            best.child = std::move(other);
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
    bool abandoned = false;

    bool needs_cost() const { return end && !cost && !abandoned; }
};

// The child that the model rates best. Counts as an expansion of the state.
template <SearchSpace S>
std::optional<Step<S>> best_child(S &space, Simulation<typename S::State, typename S::Decision> &simulation) {
    std::optional<Step<S>> best;
    std::optional<double> best_cost;
    auto children = space.children(*simulation.end);
    simulation.expansions++;
    const auto decisions = children.decisions();
    for (const auto &decision : decisions) {
        auto child = children.child(decision);
        if (decisions.size() == 1) {
            const auto cost = space.inherits_cost(decision) ? simulation.cost : std::nullopt;
            simulation.cost = cost;
            return std::pair(decision, std::move(child));
        }
        simulation.evaluations++;
        const auto cost = space.cost(child);
        if (cost && (!best_cost || *cost < *best_cost)) {
            best_cost = cost;
            best.emplace(decision, std::move(child));
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
    simulation.end = std::move(start);
    std::bernoulli_distribution is_greedy(policy.greedy_probability);
    const double num_steps = static_cast<double>(lead.size());
    std::bernoulli_distribution is_replayed(policy.deviations < num_steps ? 1 - policy.deviations / num_steps : 0);
    while (!space.is_complete(*simulation.end)) {
        const size_t step = simulation.decisions.size();
        std::optional<Step<S>> next;
        if (is_replayed.p() > 0 && step < lead.size() && is_replayed(random)) {
            if (auto child = child_if_legal(space, *simulation.end, lead[step])) {
                next.emplace(lead[step], std::move(*child));
            }
        }
        const bool greedy = !next && policy.greedy_probability > 0 && is_greedy(random);
        if (greedy && !keep_going(simulation)) {
            simulation.abandoned = true;
            return simulation;
        }
        if (greedy) {
            next = best_child(space, simulation);
        } else if (!next) {
            auto drawn = best_drawn(space, policy.draws, [&] { return random_child(space, *simulation.end, random); });
            simulation.evaluations += drawn.evaluations;
            next = std::move(drawn.child);
        }
        if (!next) {
            simulation.end.reset();
            return simulation;
        }
        if (!greedy && !space.inherits_cost(next->first)) {
            simulation.cost.reset();
        }
        simulation.decisions.push_back(next->first);
        simulation.end = std::move(next->second);
    }
    return simulation;
}

}  // namespace halidegym
