#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/decided_path.h"
#include "search/parameters.h"
#include "search/search_result.h"
#include "search/simulation.h"
#include "search/spaces/optional_hooks.h"
#include "search/spaces/walk.h"

namespace halidegym {

// Simulation-guided beam search (Choo et al. 2022): of each state of the beam a policy proposes some children, a
// rollout completes each of them, and the beam keeps those whose rollouts are the best.
struct SgbsOptions {
    int beam_size = 8;
    int children = 4;     // of each state
    bool sampled = true;  // they are drawn without repetition (Kool et al. 2019); else the likeliest ones
    // Each pass has a beam and children twice as many as those of the pass before. Empty: until the budget is used up.
    std::optional<int> passes = 1;
    uint32_t seed = 0;
};

inline void check(const SgbsOptions &options) {
    require_at_least("beam_size", options.beam_size, 1);
    require_at_least("children", options.children, 1);
    require_at_least("passes", options.passes.value_or(1), 1);
}

template <SearchSpace S>
class SimulationGuidedBeam {
public:
    using State = typename S::State;

    SimulationGuidedBeam(S &space, const SgbsOptions &options, const Budget &budget)
        : space_(space), options_(checked(options)), record_(budget), random_(options.seed) {
        require(options.passes || !budget.is_unlimited(),
                "these passes have no end of their own; give a number of passes, or a budget");
    }

    SearchResult<State> run() {
        for (int pass = 0; pass < options_.passes.value_or(max_passes) && !record_.is_stopped(); pass++) {
            run_pass(pass);
            if (!record_.has_found()) {
                throw exhausted<S>("all rollouts ended in no acceptable complete state",
                                   ", and more children give more of them");
            }
        }
        return record_.finish([&](const auto &found) { return solution_of<S>(space_, found); });
    }

private:
    using Decision = typename S::Decision;
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr int max_passes = 24;  // by then the beam holds more than any memory does

    // A state, with the best known way from the root through it to a complete one.
    struct Entry {
        State state;
        std::vector<Decision> decisions;
        size_t num_decided;  // of these, how many lead to the state
        double cost;
    };

    // What a rollout came to, by the hash of the state.
    struct Known {
        std::vector<Decision> decisions;
        std::optional<double> cost;
    };

    void run_pass(int pass);
    std::vector<Decision> propose(const State &state, size_t count);
    Entry enter(const Entry &parent, const Decision &decision);
    void complete(Entry &entry);
    std::optional<double> cost_of(const State &end, const std::vector<Decision> &decisions);
    uint64_t hash(const State &state) { return space_.hash(state, std::numeric_limits<int>::max()); }
    void count_draws(const DrawCosts &costs) {
        record_.result.evaluations += costs.evaluations;
        record_.result.forwards += costs.forwards;
    }

    S &space_;
    const SgbsOptions options_;
    SearchRecord<State, DecidedPath<Decision>> record_;
    SplitMix64 random_;
    std::unordered_map<uint64_t, Known> known_;
};

template <SearchSpace S>
void SimulationGuidedBeam<S>::run_pass(int pass) {
    const auto width = static_cast<size_t>(int64_t{options_.beam_size} << pass);
    const auto num_children = static_cast<size_t>(int64_t{options_.children} << pass);
    Walk<S> start = follow_forced(space_, space_.root());
    const size_t num_decided = start.decisions.size();
    std::vector<Entry> beam{{std::move(start.state), std::move(start.decisions), num_decided, infinity}};
    complete(beam.front());
    for (int depth = 0; !beam.empty(); depth++) {
        std::vector<Entry> next;
        std::unordered_multimap<uint64_t, size_t> places;  // in `next`, by hash
        for (const Entry &parent : beam) {
            for (const Decision &decision : propose(parent.state, num_children)) {
                if (record_.has_found() && !record_.may_continue(pass, depth)) {
                    return;
                }
                Entry child = enter(parent, decision);
                const uint64_t key = hash(child.state);
                const auto [first, last] = places.equal_range(key);
                if (std::any_of(first, last, [&](const auto &place) {
                        return space_.equal(next[place.second].state, child.state);
                    })) {
                    continue;
                }
                if (child.cost == infinity) {
                    complete(child);
                }
                if (child.cost < infinity && !space_.is_complete(child.state)) {
                    places.emplace(key, next.size());
                    next.push_back(std::move(child));
                }
            }
        }
        std::ranges::stable_sort(next, std::less<>(), &Entry::cost);
        next.erase(next.begin() + static_cast<std::ptrdiff_t>(std::min(width, next.size())), next.end());
        beam = std::move(next);
    }
}

template <SearchSpace S>
std::vector<typename S::Decision> SimulationGuidedBeam<S>::propose(const State &state, size_t count) {
    auto preferences = preferences_of(space_, state);
    count_draws(take_draw_costs(space_));
    record_.result.expansions++;
    if (options_.sampled) {
        for (auto &preference : preferences) {
            preference.log_probability += draw_gumbel(random_);
        }
        std::ranges::stable_sort(preferences, std::greater<>(), &Preference<Decision>::log_probability);
    }
    std::vector<Decision> proposed;
    for (size_t i = 0; i < std::min(count, preferences.size()); i++) {
        proposed.push_back(std::move(preferences[i].decision));
    }
    return proposed;
}

// A child that lies on the way that is known of its parent needs no rollout.
template <SearchSpace S>
typename SimulationGuidedBeam<S>::Entry SimulationGuidedBeam<S>::enter(const Entry &parent, const Decision &decision) {
    Walk<S> walk = follow_forced(space_, space_.apply(parent.state, decision));
    const size_t num_decided = parent.num_decided + 1 + walk.decisions.size();
    if (parent.cost < infinity && parent.decisions[parent.num_decided] == decision) {
        return {std::move(walk.state), parent.decisions, num_decided, parent.cost};
    }
    std::vector<Decision> decisions(parent.decisions.begin(),
                                    parent.decisions.begin() + static_cast<std::ptrdiff_t>(parent.num_decided));
    decisions.push_back(decision);
    decisions.insert(decisions.end(), walk.decisions.begin(), walk.decisions.end());
    return {std::move(walk.state), std::move(decisions), num_decided, infinity};
}

// By a rollout; leaves the entry without a cost if that met no acceptable state.
template <SearchSpace S>
void SimulationGuidedBeam<S>::complete(Entry &entry) {
    auto simulation = simulate(space_, entry.state, SplitMix64(random_()), {}, std::span<const Decision>(),
                               [](const auto &) { return true; });
    count_draws({simulation.evaluations, simulation.forwards});
    if (!simulation.end) {
        return;
    }
    std::vector<Decision> decisions = entry.decisions;
    decisions.insert(decisions.end(), simulation.decisions.begin(), simulation.decisions.end());
    const auto cost = cost_of(*simulation.end, decisions);
    if (!cost) {
        return;
    }
    if (record_.would_keep(*cost)) {
        record_.add({*cost, decisions});
    }
    entry.decisions = std::move(decisions);
    entry.cost = *cost;
}

// Asked for once, however many rollouts come to the same end in the same way.
template <SearchSpace S>
std::optional<double> SimulationGuidedBeam<S>::cost_of(const State &end, const std::vector<Decision> &decisions) {
    Known &known = known_[hash(end)];
    if (known.decisions != decisions) {
        record_.result.evaluations++;
        known = {decisions, space_.cost(end)};
    }
    return known.cost;
}

}  // namespace halidegym
