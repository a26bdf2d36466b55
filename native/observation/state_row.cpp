#include "observation/state_row.h"

#include <algorithm>

namespace halidegym {

namespace {

StagePlace place_of(const Decision &placement) {
    switch (placement.kind) {
    case Decision::Kind::Pass:
        return StagePlace::Undecided;
    case Decision::Kind::Inline:
        return StagePlace::Inlined;
    case Decision::Kind::ComputeAtLevel:
        return placement.depth == 0 ? StagePlace::AtRoot : StagePlace::Within;
    default:
        return StagePlace::Within;
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
    state.for_each_decision_made([&](const Node &func, Phase phase, const Decision &decision) {
        if (phase == Phase::Place) {
            std::fill_n(places.begin() + func.first_stage, func.num_stages, static_cast<int8_t>(place_of(decision)));
        }
    });
}

}  // namespace halidegym
