#include "env/observation.h"

#include <algorithm>

#include "env/position.h"
#include "env/scaling.h"
#include "problem/error.h"

namespace halidegym {

namespace {

template <typename T>
void fill(std::span<T> out, T value) {
    std::fill(out.begin(), out.end(), value);
}

template <typename T>
void copy_and_pad(const std::vector<T> &values, std::span<T> out, T padding) {
    std::fill(std::copy(values.begin(), values.end(), out.begin()), out.end(), padding);
}

// The value of a Func is what its last stage leaves.
int last_stage(const Node &node) {
    return node.first_stage + node.num_stages - 1;
}

void write_tables(const ProblemTables &tables, const Observation &out) {
    copy_and_pad(tables.algorithm_features, out.algorithm_features, 0.0f);
    copy_and_pad(tables.edges, out.edges, int32_t{-1});
    fill<int8_t>(out.stage_mask, 0);
    std::fill_n(out.stage_mask.begin(), tables.num_stages, int8_t{1});
}

void write_schedule(const Position &position, const Observation &out) {
    const auto row_of = [&](size_t stage) {
        return out.schedule_features.subspan(stage * num_schedule_features, num_schedule_features);
    };
    fill<int8_t>(out.deciding, 0);
    fill<int8_t>(out.phase, 0);
    for (size_t stage = 0; stage < out.scheduled.size(); stage++) {
        if (out.scheduled[stage] != 0) {
            out.scheduled[stage] = 0;
            fill(row_of(stage), 0.0f);
        }
    }
    const float *row = position.schedule_features.data();
    for (const int stage : position.scheduled) {
        out.scheduled[static_cast<size_t>(stage)] = 1;
        std::copy_n(row, num_schedule_features, row_of(static_cast<size_t>(stage)).begin());
        row += num_schedule_features;
    }
    if (!position.state.is_complete()) {
        const Node &func = position.state.next_func();
        std::fill_n(out.deciding.begin() + func.first_stage, func.num_stages, int8_t{1});
        out.phase[static_cast<size_t>(position.state.next_phase())] = 1;
    }
}

void write_decisions(const Position &position, const ObservationShape &shape, size_t num_shown,
                     const Observation &out) {
    const size_t count = position.presented.size();
    const auto columns = static_cast<size_t>(shape.descriptor_size());
    std::copy(position.descriptors.begin(), position.descriptors.end(), out.decisions.begin());
    std::fill_n(out.action_mask.begin(), count, int8_t{1});
    if (num_shown > count) {
        fill(out.decisions.subspan(count * columns, (num_shown - count) * columns), 0.0f);
        fill<int8_t>(out.action_mask.subspan(count, num_shown - count), 0);
    }
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

void check(const ObservationShape &shape) {
    if (std::min({shape.stages, shape.edges, shape.loops, shape.decisions}) < 1) {
        throw InvalidParameter(
            "An observation has no room for a stage, an edge, a loop or a decision; make each size at "
            "least 1");
    }
}

ProblemTables::ProblemTables(const Problem &problem) : num_stages(problem.num_stages()) {
    for (const Stage &stage : problem.stages) {
        // Transposed and without the types in use (docs/specification/function-dag.md, section 9.2).
        for (int type = 0; type < num_scalar_types; type++) {
            for (int operation = 0; operation < num_operations; operation++) {
                const int index = num_scalar_types * (1 + operation) + type;
                algorithm_features.push_back(scaled(stage.features[static_cast<size_t>(index)]));
            }
        }
    }
    const auto add_edge = [&](int producer_stage, int consumer_stage) {
        edges.push_back(producer_stage);
        edges.push_back(consumer_stage);
    };
    for (const Edge &edge : problem.edges) {
        add_edge(last_stage(problem.nodes[static_cast<size_t>(edge.producer)]), edge.consumer_stage);
    }
    for (const Stage &stage : problem.stages) {
        if (stage.index > 0) {
            add_edge(stage.id - 1, stage.id);
        }
    }
}

void write(const Position &position, const std::shared_ptr<const ProblemTables> &tables, const ObservationShape &shape,
           Shown &shown, const Observation &out) {
    if (shown.tables != tables) {
        write_tables(*tables, out);
        fill<int8_t>(out.scheduled, 0);
        fill(out.schedule_features, 0.0f);
        shown = {tables, static_cast<size_t>(shape.decisions)};
    }
    write_schedule(position, out);
    write_decisions(position, shape, shown.num_decisions, out);
    shown.num_decisions = position.presented.size();
}

}  // namespace halidegym
