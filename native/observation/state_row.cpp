#include "observation/state_row.h"

#include <algorithm>

namespace halidegym {

namespace {

void find_places(const Problem &problem, const Level &level, std::vector<int8_t> &places) {
    const auto set = [&](int node, StagePlace place) {
        const Node &func = problem.nodes[static_cast<size_t>(node)];
        std::fill_n(places.begin() + func.first_stage, func.num_stages, static_cast<int8_t>(place));
    };
    for (const auto &[node, calls] : level.inlined) {
        set(node, StagePlace::Inlined);
    }
    for (const LevelRef &child : level.children) {
        if (child->node != level.node) {
            set(child->node, level.is_root() ? StagePlace::AtRoot : StagePlace::Within);
        }
        find_places(problem, *child, places);
    }
}

}  // namespace

StateRow::StateRow(const State &state)
    : decided(static_cast<float>(state.num_decisions_made()) / static_cast<float>(state.num_decisions())),
      places(static_cast<size_t>(state.space().problem->num_stages()), static_cast<int8_t>(StagePlace::Undecided)) {
    if (!state.is_complete()) {
        const Node &func = state.next_func();
        first_stage = func.first_stage;
        num_stages = func.num_stages;
        phase = static_cast<int>(state.next_phase());
    }
    find_places(*state.space().problem, *state.nest(), places);
}

}  // namespace halidegym
