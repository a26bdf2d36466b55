#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cost/feature_table.h"
#include "cost/weights.h"
#include "problem/problem.h"
#include "state/decision.h"

namespace halidegym {

// Sizes of the arrays of an observation. They are fixed for an environment: what a problem leaves over is padding.
struct ObservationShape {
    int stages = 1;
    int edges = 1;
    int loops = 1;  // of a stage
    int decisions = 1;

    // Columns of a decision's descriptor: its kind, one-hot; depth, vector dimension and stage of its level; the trip
    // counts of that level, of the outer tile (or the tasks), and of the inner tile.
    static constexpr int num_kinds = static_cast<int>(Decision::Kind::Parallelize) + 1;
    static constexpr int num_scalars = 3;
    int descriptor_size() const { return num_kinds + num_scalars + 3 * loops; }
    // Whether everything but the decisions fits.
    bool holds(const ObservationShape &other) const {
        return stages >= other.stages && edges >= other.edges && loops >= other.loops;
    }
};

// The smallest shape that holds a problem, with one decision.
ObservationShape shape_of(const Problem &problem);

// Throws InvalidParameter if a size is below 1.
void check(const ObservationShape &shape);

// Caller's memory for one observation, row-major. Rows are stages in the problem's order.
struct Observation {
    std::span<float> algorithm_features;  // [stages * 280], log(1 + count), in the cost model's order
    std::span<float> schedule_features;   // [stages * 39], log(1 + feature), 0 where not scheduled
    std::span<int8_t> stage_mask;         // [stages], 1: a stage of the problem
    std::span<int8_t> scheduled;          // [stages], 1: has schedule features
    std::span<int8_t> deciding;           // [stages], 1: of the Func that the next decision is about
    std::span<int8_t> phase;              // [2], one-hot: placing, parallelizing; 0 at the end
    std::span<int32_t> edges;             // [edges * 2], producer stage and consumer stage, -1 where none
    std::span<float> decisions;           // [decisions * descriptor_size]
    std::span<int8_t> action_mask;        // [decisions]
};

// Calls `visit(name, span, size)` for each array of an observation, with its size at this shape.
template <typename Visit>
void for_each_array(Observation &observation, const ObservationShape &shape, Visit visit) {
    visit("algorithm_features", observation.algorithm_features, shape.stages * num_operations * num_scalar_types);
    visit("schedule_features", observation.schedule_features, shape.stages * num_schedule_features);
    visit("stage_mask", observation.stage_mask, shape.stages);
    visit("scheduled", observation.scheduled, shape.stages);
    visit("deciding", observation.deciding, shape.stages);
    visit("phase", observation.phase, 2);
    visit("edges", observation.edges, shape.edges * 2);
    visit("decisions", observation.decisions, shape.decisions * shape.descriptor_size());
    visit("action_mask", observation.action_mask, shape.decisions);
}

// What stays the same for all states of a problem.
struct ProblemTables {
    explicit ProblemTables(const Problem &problem);

    int num_stages;
    std::vector<float> algorithm_features;  // [stages of the problem * 280]
    std::vector<int32_t> edges;             // [edges of the problem * 2]
};

struct Position;

// What some memory shows already; of new memory, nothing.
struct Shown {
    std::shared_ptr<const ProblemTables> tables;
    size_t num_decisions = 0;
};

// Writes what a position differs in from what the memory shows, and returns what it shows now.
void write(const Position &position, const std::shared_ptr<const ProblemTables> &tables, const ObservationShape &shape,
           Shown &shown, const Observation &out);

}  // namespace halidegym
