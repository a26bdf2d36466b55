#include "env/position.h"

#include <algorithm>

#include "env/scaling.h"

namespace halidegym {

namespace {

// A few levels of a nest with their regions.
constexpr size_t bytes_of_state = 4096;

void write_trips(const Extents &trips, float *out) {
    std::transform(trips.begin(), trips.end(), out, std::ref(scaled_trips));
}

void write_descriptor(const Decision &decision, Expansion &expansion, int loops, float *row) {
    row[static_cast<size_t>(decision.kind)] = 1;
    float *scalars = row + ObservationShape::num_kinds;
    float *level_trips = scalars + ObservationShape::num_scalars;
    float *outer_trips = level_trips + loops;
    float *inner_trips = outer_trips + loops;
    if (decision.kind == Decision::Kind::Parallelize) {
        write_trips(expansion.tasks(decision), outer_trips);
    } else if (const Level *level = expansion.level(decision)) {
        scalars[0] = decision.depth;
        scalars[1] = static_cast<float>(decision.vector_dim + 1);
        scalars[2] = static_cast<float>(level->stage + 1);
        write_trips(level->size, level_trips);
        write_trips(expansion.outer_tile(decision), outer_trips);
        write_trips(expansion.inner_tile(decision), inner_trips);
    }
}

}  // namespace

size_t Position::bytes() const {
    return sizeof(Position) + bytes_of_state + presented.capacity() * sizeof(Decision) +
           scheduled.capacity() * sizeof(int) + (descriptors.capacity() + schedule_features.capacity()) * sizeof(float);
}

PositionMaker::PositionMaker(SpaceRef space, ObservationShape shape)
    : evaluator_(space), shape_(shape), rows_(static_cast<size_t>(space->problem->num_stages())) {}

Position PositionMaker::make(const State &state, Expansion &expansion) {
    Position position(state);
    if (state.is_complete()) {
        position.cost = state.cost(evaluator_);
    }
    add_schedule(position);
    add_decisions(position, expansion);
    return position;
}

void PositionMaker::add_schedule(Position &position) {
    const State &state = position.state;
    const FeatureTable &features = state.is_complete() ? evaluator_.last_features() : evaluator_.features(state.nest());
    position.scheduled = features.stages;
    position.schedule_features.reserve(features.stages.size() * num_schedule_features);
    for (const int stage : features.stages) {
        const float *row = scale(stage, features.row(stage));
        position.schedule_features.insert(position.schedule_features.end(), row, row + num_schedule_features);
    }
}

const float *PositionMaker::scale(int stage, const FeatureRow &row) {
    ScaledRow &known = rows_[static_cast<size_t>(stage)];
    for (size_t i = 0; i < row.size(); i++) {
        if (row[i] != known.features[i]) {
            known.features[i] = row[i];
            known.scaled[i] = scaled(row[i]);
        }
    }
    return known.scaled.data();
}

void PositionMaker::add_decisions(Position &position, Expansion &expansion) const {
    const auto legal = expansion.decisions();
    position.num_legal = legal.size();
    position.presented.resize(std::min(legal.size(), static_cast<size_t>(shape_.decisions)));
    position.descriptors.resize(position.presented.size() * static_cast<size_t>(shape_.descriptor_size()));
    float *row = position.descriptors.data();
    for (size_t action = 0; action < position.presented.size(); action++) {
        const Decision &decision = position.presented[action] = legal[position.decision_index(action)];
        write_descriptor(decision, expansion, shape_.loops, row);
        row += shape_.descriptor_size();
    }
}

}  // namespace halidegym
