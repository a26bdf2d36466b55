#include "env/observation.h"

#include <algorithm>
#include <limits>

#include "env/position.h"
#include "problem/error.h"

namespace halidegym {

namespace {

template <typename T>
void fill(std::span<T> out, T value) {
    if (value == T{}) {
        clear(out);
    } else {
        std::fill(out.begin(), out.end(), value);
    }
}

template <typename T>
void copy_and_pad(const std::vector<T> &values, std::span<T> out, T padding) {
    std::copy(values.begin(), values.end(), out.begin());
    fill(out.subspan(values.size()), padding);
}

void write_problem(const ProblemRows &problem, const Observation &out) {
    copy_and_pad(problem.algorithm_features, out.algorithm_features, 0.0f);
    copy_and_pad(problem.stage_features, out.stage_features, 0.0f);
    copy_and_pad(problem.edges, out.edges, int32_t{-1});
    copy_and_pad(problem.edge_features, out.edge_features, 0.0f);
    clear(out.stage_mask);
    std::fill_n(out.stage_mask.begin(), problem.num_stages, int8_t{1});
}

void write_schedule(const Position &position, const Observation &out) {
    const auto row_of = [&](size_t stage) {
        return out.schedule_features.subspan(stage * num_schedule_features, num_schedule_features);
    };
    clear(out.deciding);
    clear(out.phase);
    for (size_t stage = 0; stage < out.scheduled.size(); stage++) {
        if (out.scheduled[stage] != 0) {
            out.scheduled[stage] = 0;
            out.stage_costs[stage] = 0;
            clear(row_of(stage));
        }
    }
    const float *row = position.schedule_features.data();
    for (size_t i = 0; i < position.scheduled.size(); i++) {
        const auto stage = static_cast<size_t>(position.scheduled[i]);
        out.scheduled[stage] = 1;
        out.stage_costs[stage] = position.stage_costs[i];
        std::copy_n(row, num_schedule_features, row_of(stage).begin());
        row += num_schedule_features;
    }
    const StateRow &state = position.row;
    std::fill_n(out.deciding.begin() + state.first_stage, state.num_stages, int8_t{1});
    if (state.num_stages > 0) {
        out.phase[static_cast<size_t>(state.phase)] = 1;
    }
    copy_and_pad(state.places, out.places, int8_t{0});
    out.decided.front() = state.decided;
}

// Rows beyond those that were shown before are padding already.
void write_decisions(const Position &position, const ObservationShape &shape, size_t num_shown,
                     const Observation &out) {
    const size_t count = position.presented.size();
    const auto write = [&]<typename T>(const std::vector<T> &rows, std::span<T> to, T padding, int columns) {
        std::copy(rows.begin(), rows.end(), to.begin());
        if (num_shown > count) {
            const auto size = static_cast<size_t>(columns);
            fill(to.subspan(count * size, (num_shown - count) * size), padding);
        }
    };
    write(position.decisions.rows, out.decisions, 0.0f, shape.descriptor_size());
    write(position.decisions.stages, out.decision_stage, int32_t{-1}, 1);
    if (shape.child_features) {
        write(position.children, out.decision_features, 0.0f, num_child_features);
    }
    std::fill_n(out.action_mask.begin(), count, int8_t{1});
    if (num_shown > count) {
        clear(out.action_mask.subspan(count, num_shown - count));
    }
}

}  // namespace

ObservationShape shape_of(const Problem &problem) {
    ObservationShape shape;
    shape.stages = problem.num_stages();
    shape.edges = std::max(1, num_edge_rows(problem));
    for (const Stage &stage : problem.stages) {
        shape.loops = std::max(shape.loops, static_cast<int>(stage.loops.size()));
    }
    return shape;
}

ObservationShape checked(const ObservationShape &shape) {
    if (std::min({shape.stages, shape.edges, shape.loops, shape.decisions}) < 1) {
        throw InvalidParameter(
            "An observation has no room for a stage, an edge, a loop or a decision; make each size at "
            "least 1");
    }
    constexpr int most_loops = 1024;  // far more than any stage has; sizes of rows stay small
    if (shape.loops > most_loops) {
        throw InvalidParameter("An observation has room for " + std::to_string(shape.loops) +
                               " loops; make that at most " + std::to_string(most_loops));
    }
    const int64_t columns = std::max(shape.descriptor_size(), num_child_features);
    const int64_t largest = std::max({int64_t{shape.stages} * num_operations * num_scalar_types,
                                      int64_t{shape.edges} * num_edge_features, int64_t{shape.decisions} * columns});
    if (largest > std::numeric_limits<int32_t>::max()) {
        throw InvalidParameter("An array of an observation would have " + std::to_string(largest) +
                               " numbers; make stages, edges or decisions smaller");
    }
    return shape;
}

Shown Shown::blank(const Observation &out) {
    fill(out.decision_stage, int32_t{-1});
    return {nullptr, 0};
}

bool is_blank_at_end(std::string_view name) {
    return name == "decisions" || name == "action_mask" || name == "decision_features";
}

void write(const Position &position, const std::shared_ptr<const ProblemRows> &problem, const ObservationShape &shape,
           Shown &shown, const Observation &out) {
    if (shown.problem != problem) {
        write_problem(*problem, out);
        clear(out.scheduled);
        clear(out.schedule_features);
        clear(out.stage_costs);
        shown.problem = problem;
    }
    write_schedule(position, out);
    write_decisions(position, shape, std::min(shown.num_decisions, static_cast<size_t>(shape.decisions)), out);
    shown.num_decisions = position.presented.size();
}

}  // namespace halidegym
