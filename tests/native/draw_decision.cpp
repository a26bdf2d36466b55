// Drawing one decision without listing them gives what drawing from the list gives (docs/specification/search-space.md,
// section 17.4).

#include <cmath>
#include <map>
#include <random>

#include "example_problem.h"
#include "search/simulation.h"
#include "search/spaces/schedule_space.h"

using namespace halidegym;

namespace {

// Some rules test acceptance with the evaluator, which needs a cost model; any will do.
SpaceRef blur_space(int parallelism, int lanes, SpaceOptions options) {
    auto problem = std::make_shared<const Problem>(blur_problem(parallelism, lanes));
    auto model = std::make_shared<const CostModel>(*problem, std::make_shared<const Network>(Weights{}));
    return std::make_shared<const Space>(std::move(problem), std::move(model), options);
}

using Key = std::array<uint32_t, 5>;

Key key(const Decision &decision) {
    return {static_cast<uint32_t>(decision.kind), decision.vector_dim, decision.depth, decision.tile,
            decision.inner_tile};
}

// Every accepted option has exactly one index, and nothing else has any. So equally likely indices make equally likely
// options.
void test_candidates(const State &state) {
    Placements placements(state.space(), *state.nest(), state.next_func());
    std::map<Key, int> accepted;
    for (const Decision &decision : placements.enumerate()) {
        accepted[key(decision)]++;
    }
    Placements fresh(state.space(), *state.nest(), state.next_func());
    std::map<Key, int> candidates;
    const int64_t count = fresh.num_candidates();
    for (int64_t i = 0; i < count; i++) {
        if (const auto decision = fresh.option(i)) {
            candidates[key(*decision)]++;
        }
    }
    expect("candidates of " + state.next_func().name, candidates == accepted);
    expect("an obvious choice is one", !fresh.has_obvious_choice(2) || accepted.size() >= 2);
}

void test_only_decision(const State &state) {
    const auto only = Expansion::only_decision(state);
    Expansion expansion(state);
    expect("only decision", only ? expansion.decisions().size() == 1 && *only == expansion.decisions()[0]
                                 : expansion.decisions().size() != 1);
}

// As searches draw.
std::optional<Step<ScheduleSpace>> random_child(ScheduleSpace &space, const State &state, SplitMix64 &random) {
    auto children = children_to_draw_from(space, state);
    const auto decision = random_decision(space, children, random);
    return decision ? std::optional(Step<ScheduleSpace>(*decision, children.child(*decision))) : std::nullopt;
}

// A chi-squared test at 0.1 %, with Wilson and Hilferty's approximation of the quantile.
void test_uniform(ScheduleSpace &space, const State &state, SplitMix64 &random) {
    Expansion expansion(state);
    const auto choices = static_cast<double>(expansion.decisions().size());
    std::map<Key, int> counts;
    for (const Decision &decision : expansion.decisions()) {
        counts[key(decision)] = 0;
    }
    const int draws = 10 * static_cast<int>(choices);
    for (int i = 0; i < draws; i++) {
        const auto drawn = random_child(space, state, random);
        expect("legal", drawn && counts.contains(key(drawn->first)));
        expect("its child", drawn->second.num_decisions_made() == state.num_decisions_made() + 1);
        counts[key(drawn->first)]++;
    }
    const double expected = draws / choices;
    double statistic = 0;
    for (const auto &[decision, count] : counts) {
        statistic += (count - expected) * (count - expected) / expected;
    }
    const double degrees = choices - 1;
    const double limit = degrees * std::pow(1 - 2 / (9 * degrees) + 3.09 * std::sqrt(2 / (9 * degrees)), 3);
    expect("uniform among " + std::to_string(counts.size()), degrees < 1 || statistic < limit);
}

void test_space(const SpaceRef &rules, uint64_t seed) {
    ScheduleSpace space(rules);
    SplitMix64 random(seed);
    for (int walk = 0; walk < 12; walk++) {
        State state(rules);
        while (!state.is_complete()) {
            if (!state.next_func().is_input && state.next_phase() == Phase::Place) {
                test_candidates(state);
            }
            test_only_decision(state);
            if (walk == 0) {
                test_uniform(space, state, random);
            }
            state = random_child(space, state, random)->second;
        }
        expect("nothing is left to draw", !random_child(space, state, random));
    }
}

}  // namespace

int main() {
    test_space(blur_space(16, 16, {}), 1);
    test_space(blur_space(4, 8, {}), 2);
    test_space(blur_space(1, 8, {}), 3);
    test_space(blur_space(16, 8, {.subtiling = false}), 4);
    test_space(blur_space(16, 8, {.memory_limit = int64_t{1} << 40}), 5);
    return failures == 0 ? 0 : 1;
}
