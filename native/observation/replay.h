#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "observation/child_rows.h"
#include "observation/decision_rows.h"
#include "state/state.h"

namespace halidegym {

struct ReplayOptions {
    int candidates = 64;  // decisions shown of a state, at most
    int loops = 8;        // of a decision's row
    bool child_features = false;
    double reference_cost = 1;  // of column 0 of the children
    // By decision of the plan: indices that are shown besides the one taken, even if these are more than `candidates`.
    std::vector<std::vector<int64_t>> shown = {};
};

// The states on the path of a plan that leave a choice, one after the other, each with the decision that the plan takes
// there and some that it might have taken: what is needed to imitate it.
struct ReplayRows {
    std::vector<int32_t> deciding;       // [states * 2], first stage of the Func being decided, and their number
    std::vector<int8_t> phase;           // [states]
    std::vector<float> decided;          // [states]
    std::vector<int8_t> places;          // [states * stages of the problem]
    std::vector<int32_t> num_legal;      // [states]
    std::vector<int32_t> taken;          // [states], index among the decisions shown of this state
    std::vector<int32_t> offsets = {0};  // [states + 1], of the decisions shown
    std::vector<int32_t> indices;        // [decisions], among the legal ones of their state
    DecisionRows decisions;              // shown, of all states
    ChildRows children;                  // of these decisions, if asked for

    size_t num_states() const { return phase.size(); }
};

// Follows `actions`, indices among the legal decisions, from the state in which nothing is decided. The decisions shown
// are in the order of the legal ones; which ones, besides the one taken and those asked for, is drawn without
// repetition, each as likely as the others. Throws InvalidParameter if an action is no index, if there are more than
// decisions, or if an option is out of its range.
ReplayRows replay(const SpaceRef &space, std::span<const int64_t> actions, const ReplayOptions &options,
                  const Expansion::UniformBelow &below);

}  // namespace halidegym
