#pragma once

#include <cstdint>
#include <vector>

#include "state/state.h"

namespace halidegym {

// Where a Func is computed: not decided yet, in every consumer, as a loop nest of its own, or in that of another Func.
enum class StagePlace : int8_t { Undecided, Inlined, AtRoot, Within };

// What is known of a state without computing features of its nest.
struct StateRow {
    explicit StateRow(const State &state);

    int first_stage = 0;         // of the Func that the next decision is about
    int num_stages = 0;          // of it; 0 for a complete schedule
    int phase = 0;               // 0: placing, 1: parallelizing
    float decided = 0;           // share of the decisions that are made
    std::vector<int8_t> places;  // by stage, a StagePlace; inputs, which no nest contains, stay undecided
};

}  // namespace halidegym
