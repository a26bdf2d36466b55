#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transform/space.h"

namespace halidegym {

// Actions of fixed meaning: a step each, which is legal where it is a choice of the first open problem. So they mean
// the same for every size and problem.
class TransformActions {
public:
    // Those that any of the spaces can use.
    explicit TransformActions(const std::vector<TransformSpace> &spaces);

    const std::vector<TransformStep> &steps() const { return steps_; }
    size_t size() const { return steps_.size(); }
    size_t index_of(const TransformStep &step) const;

    // The place of an action among the choices of a problem. An action that is illegal stands for the legal one with
    // its number, counted round.
    struct Taken {
        uint32_t choice;
        bool is_legal;
    };
    Taken take(std::span<const StepChoice> choices, int64_t action) const;

private:
    std::vector<TransformStep> steps_;  // ascending
};

inline constexpr size_t num_problem_columns = 14;
inline constexpr size_t num_step_columns = 17;

// Where an observation is written; all zero before.
struct TransformObservation {
    std::span<float> problem;       // [14]: the first open problem
    std::span<float> steps;         // [rows * 17]: the plan so far, in the order of its text
    std::span<int8_t> step_mask;    // [rows]
    std::span<float> estimates;     // [actions]: log of the fallback's cost after each legal action, relative to before
    std::span<int8_t> action_mask;  // [actions]
};

// Empty `estimates` are left out. Returns the number of legal actions.
size_t observe(const TransformSpace::State &state, const TransformActions &actions,
               const TransformObservation &observation);

}  // namespace halidegym
