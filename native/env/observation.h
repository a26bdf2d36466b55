#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cost/weights.h"
#include "observation/child_rows.h"
#include "observation/decision_rows.h"
#include "observation/problem_rows.h"
#include "observation/state_row.h"

namespace halidegym {

// Sizes of the arrays of an observation. They are fixed for an environment: what a problem leaves over is padding.
struct ObservationShape {
    int stages = 1;
    int edges = 1;
    int loops = 1;  // of a stage
    int decisions = 1;
    bool child_features = false;  // whether the children of the decisions are shown, too

    int descriptor_size() const { return DecisionRows::columns(loops); }
    // Whether everything but the decisions fits.
    bool holds(const ObservationShape &other) const {
        return stages >= other.stages && edges >= other.edges && loops >= other.loops;
    }
};

// The smallest shape that holds a problem, with one decision.
ObservationShape shape_of(const Problem &problem);

// The shape itself. Throws InvalidParameter if a size is below 1, or too large for the arrays to be counted.
ObservationShape checked(const ObservationShape &shape);

// Caller's memory for one observation, row-major. Rows are stages in the problem's order; see ProblemRows,
// StateRow, DecisionRows and ChildRows for the columns.
struct Observation {
    std::span<float> algorithm_features;  // [stages * 280]
    std::span<float> stage_features;      // [stages * 24]
    std::span<float> schedule_features;   // [stages * 39], log(1 + feature), 0 where not scheduled
    std::span<float> stage_costs;         // [stages], log(cost / reference cost), -20 to 20, 0 where not scheduled
    std::span<int8_t> stage_mask;         // [stages], 1: a stage of the problem
    std::span<int8_t> scheduled;          // [stages], 1: has schedule features
    std::span<int8_t> deciding;           // [stages], 1: of the Func that the next decision is about
    std::span<int8_t> places;             // [stages], StagePlace
    std::span<int8_t> phase;              // [2], one-hot: placing, parallelizing; 0 at the end
    std::span<float> decided;             // [1], share of the decisions that are made
    std::span<int32_t> edges;             // [edges * 2], producer stage and consumer stage, -1 where none
    std::span<float> edge_features;       // [edges * 8]
    std::span<float> decisions;           // [decisions * descriptor_size]
    std::span<int32_t> decision_stage;    // [decisions], of the decision's level; -1: the root, or none
    std::span<int8_t> action_mask;        // [decisions]
    std::span<float> decision_features;   // [decisions * 43] of the children, if they are shown
};

// Calls `visit(name, span, size)` for each array of an observation, with its size at this shape.
template <typename Visit>
void for_each_array(Observation &observation, const ObservationShape &shape, Visit visit) {
    visit("algorithm_features", observation.algorithm_features, shape.stages * num_operations * num_scalar_types);
    visit("stage_features", observation.stage_features, shape.stages * num_stage_features);
    visit("schedule_features", observation.schedule_features, shape.stages * num_schedule_features);
    visit("stage_costs", observation.stage_costs, shape.stages);
    visit("stage_mask", observation.stage_mask, shape.stages);
    visit("scheduled", observation.scheduled, shape.stages);
    visit("deciding", observation.deciding, shape.stages);
    visit("places", observation.places, shape.stages);
    visit("phase", observation.phase, 2);
    visit("decided", observation.decided, 1);
    visit("edges", observation.edges, shape.edges * 2);
    visit("edge_features", observation.edge_features, shape.edges * num_edge_features);
    visit("decisions", observation.decisions, shape.decisions * shape.descriptor_size());
    visit("decision_stage", observation.decision_stage, shape.decisions);
    visit("action_mask", observation.action_mask, shape.decisions);
    if (shape.child_features) {
        visit("decision_features", observation.decision_features, shape.decisions * num_child_features);
    }
}

// Writes zeros; as the C library does, since a loop takes longer to write as much as an observation leaves empty.
template <typename T>
void clear(std::span<T> out) {
    static_assert(std::is_arithmetic_v<T>);
    std::memset(out.data(), 0, out.size_bytes());
}

struct Position;

// What some memory shows already.
struct Shown {
    std::shared_ptr<const ProblemRows> problem;                 // null: anything may be in it, but for decisions
    size_t num_decisions = std::numeric_limits<size_t>::max();  // beyond these, there is the padding of decisions

    // Makes decisions all padding in memory that is 0.
    static Shown blank(const Observation &out);
};

// Whether an array is 0 where no decision is left.
bool is_blank_at_end(std::string_view name);

// Writes what a position differs in from what the memory shows, and returns what it shows now.
void write(const Position &position, const std::shared_ptr<const ProblemRows> &problem, const ObservationShape &shape,
           Shown &shown, const Observation &out);

}  // namespace halidegym
