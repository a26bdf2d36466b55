#include "env/observation.h"

#include <algorithm>
#include <cmath>

#include "cost/weights.h"

namespace halidegym {

namespace {

constexpr int num_model_features = num_operations * num_scalar_types;

// Features span twenty orders of magnitude; the cost model takes their logarithm too. Up to 2^63 it is below the bound
// that the observation space states.
float scaled(double feature) {
    return static_cast<float>(std::min(std::log1p(std::max(0.0, feature)), 64.0));
}

// 0: no such loop, 1: a single iteration.
float scaled_trips(int64_t trips) {
    return static_cast<float>(std::log2(1.0 + static_cast<double>(std::max<int64_t>(0, trips))));
}

template <typename T>
void fill(std::span<T> out, T value) {
    std::fill(out.begin(), out.end(), value);
}

void write_trips(const Extents &trips, float *out) {
    std::transform(trips.begin(), trips.end(), out, scaled_trips);
}

// The value of a Func is what its last stage leaves.
int last_stage(const Node &node) {
    return node.first_stage + node.num_stages - 1;
}

}  // namespace

ObservationShape shape_of(const Problem &problem) {
    ObservationShape shape;
    shape.stages = problem.num_stages();
    shape.edges = std::max(1, static_cast<int>(problem.edges.size()) + problem.num_stages() - problem.num_nodes());
    for (const Stage &stage : problem.stages) {
        shape.loops = std::max(shape.loops, static_cast<int>(stage.loops.size()));
    }
    return shape;
}

ProblemObservation observe_problem(const Problem &problem) {
    ProblemObservation result;
    result.algorithm_features.reserve(problem.stages.size() * num_model_features);
    for (const Stage &stage : problem.stages) {
        // Transposed and without the types in use (docs/specification/function-dag.md, section 9.2).
        for (int type = 0; type < num_scalar_types; type++) {
            for (int operation = 0; operation < num_operations; operation++) {
                const int index = num_scalar_types * (1 + operation) + type;
                result.algorithm_features.push_back(scaled(stage.features[static_cast<size_t>(index)]));
            }
        }
    }
    const auto add_edge = [&](int producer_stage, int consumer_stage) {
        result.edges.push_back(producer_stage);
        result.edges.push_back(consumer_stage);
    };
    for (const Edge &edge : problem.edges) {
        add_edge(last_stage(problem.nodes[static_cast<size_t>(edge.producer)]), edge.consumer_stage);
    }
    for (const Stage &stage : problem.stages) {
        if (stage.index > 0) {
            add_edge(stage.id - 1, stage.id);
        }
    }
    return result;
}

void write_schedule(const State &state, const FeatureTable &features, const Observation &out) {
    fill(out.schedule_features, 0.0f);
    fill<int8_t>(out.stage_mask, 0);
    fill<int8_t>(out.scheduled, 0);
    fill<int8_t>(out.deciding, 0);
    fill<int8_t>(out.phase, 0);
    std::fill_n(out.stage_mask.begin(), state.space().problem->num_stages(), int8_t{1});
    for (const int stage : features.stages) {
        const FeatureRow &row = features.row(stage);
        out.scheduled[static_cast<size_t>(stage)] = 1;
        std::transform(row.begin(), row.end(), out.schedule_features.begin() + stage * num_schedule_features, scaled);
    }
    if (!state.is_complete()) {
        const Node &func = state.next_func();
        std::fill_n(out.deciding.begin() + func.first_stage, func.num_stages, int8_t{1});
        out.phase[static_cast<size_t>(state.next_phase())] = 1;
    }
}

void write_decisions(Expansion &expansion, std::span<const Decision> presented, const ObservationShape &shape,
                     const Observation &out) {
    fill(out.decisions, 0.0f);
    fill<int8_t>(out.action_mask, 0);
    std::fill_n(out.action_mask.begin(), presented.size(), int8_t{1});
    float *row = out.decisions.data();
    for (const Decision &decision : presented) {
        row[static_cast<size_t>(decision.kind)] = 1;
        float *scalars = row + ObservationShape::num_kinds;
        float *level_trips = scalars + ObservationShape::num_scalars;
        float *outer_trips = level_trips + shape.loops;
        float *inner_trips = outer_trips + shape.loops;
        if (const Level *level = expansion.level(decision)) {
            scalars[0] = decision.depth;
            scalars[1] = static_cast<float>(decision.vector_dim + 1);
            scalars[2] = static_cast<float>(level->stage + 1);
            write_trips(level->size, level_trips);
        }
        write_trips(decision.kind == Decision::Kind::Parallelize ? expansion.tasks(decision)
                                                                 : expansion.outer_tile(decision),
                    outer_trips);
        write_trips(expansion.inner_tile(decision), inner_trips);
        row += shape.descriptor_size();
    }
}

}  // namespace halidegym
