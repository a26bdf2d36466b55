// How often searches allocate memory on one problem, by exact counts: a change that allocates more, or less, shows
// here.

#include "allocations/allocations.h"

#include <algorithm>
#include <random>

#include "example_problem.h"
#include "search/beam_search.h"
#include "search/random_search.h"
#include "search/spaces/schedule_space.h"
#include "search/spaces/splitmix.h"

using namespace halidegym;

namespace {

// With the library of GCC 12. A beam counts its allocations per evaluation, of its one pass; a rollout is a random
// schedule with its cost.
constexpr int64_t beam_evaluations = 4560;
constexpr int64_t beam_allocations = 840;
constexpr int num_rollouts = 1000;
constexpr int64_t rollout_allocations = 4001;

// Any weights that tell schedules apart will do.
Weights example_weights() {
    std::mt19937 random(0);
    return weights_from([&] { return static_cast<float>(random() % 1000) * 1e-5f; });
}

SpaceRef blur_space() {
    auto problem = std::make_shared<const Problem>(blur_problem(16, 16));
    auto model = std::make_shared<const CostModel>(*problem, std::make_shared<const Network>(example_weights()));
    return std::make_shared<const Space>(std::move(problem), std::move(model));
}

// Calls twice and counts the second time, when what is shared and kept is there.
template <typename Function>
int64_t allocations_of(const Function &function) {
    function();
    const uint64_t before = halidegym_allocations();
    function();
    return static_cast<int64_t>(halidegym_allocations() - before);
}

void test_beam(ScheduleSpace &space) {
    int64_t evaluations = 0;
    const int64_t allocations = allocations_of(
        [&] { evaluations = BeamSearch(space, BeamOptions{.beam_size = 8, .passes = 1}, Budget{}).run().evaluations; });
    expect_equal("evaluations of the beam", evaluations, beam_evaluations);
    expect_equal("allocations of the beam", allocations, beam_allocations);
}

void test_rollouts(ScheduleSpace &space) {
    const int64_t allocations = allocations_of([&] {
        for (uint64_t i = 0; i < num_rollouts; i++) {
            SplitMix64 random(split_seed(0, i));
            random_rollout(space, space.root(), random);
        }
    });
    expect_equal("allocations of the rollouts", allocations, rollout_allocations);
}

}  // namespace

int main() {
    ScheduleSpace space(blur_space());
    test_beam(space);
    test_rollouts(space);
    return failures == 0 ? 0 : 1;
}
