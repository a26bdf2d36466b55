// Decisions are drawn with the probabilities that they have, whatever number is drawn.

#include "search/spaces/guided_schedules.h"

#include <limits>

#include "example_problem.h"

using namespace halidegym;

namespace {

// A generator of one number.
struct Constant {
    using result_type = uint64_t;
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<uint64_t>::max(); }
    result_type operator()() const { return number; }

    uint64_t number;
};

SpaceRef blur_space() {
    auto problem = std::make_shared<const Problem>(blur_problem(16, 16));
    auto model = std::make_shared<const CostModel>(*problem, std::make_shared<const Network>(Weights{}));
    return std::make_shared<const Space>(std::move(problem), std::move(model), SpaceOptions{});
}

// At temperature 0 it has all the probability. The largest number below 1 is 1 as a float.
void test_every_number_stands_for_the_favourite() {
    GuidanceOptions options;
    options.temperature = 0;
    GuidedSchedules space(blur_space(), {}, options);
    State state = space.root();
    int choices = 0;
    while (!state.is_complete()) {
        auto children = children_to_draw_from(space, state);
        Constant smallest{Constant::min()}, largest{Constant::max()};
        const auto favourite = space.random_decision(children, smallest).value();
        expect("the same", space.random_decision(children, largest) == favourite);
        choices += Expansion(state).decisions().size() > 1 ? 1 : 0;
        state = state.apply(favourite);
    }
    expect("with others beside it", choices > 1);
}

}  // namespace

int main() {
    test_every_number_stands_for_the_favourite();
    return failures == 0 ? 0 : 1;
}
