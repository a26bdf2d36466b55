#include "env/position.h"

#include <algorithm>

#include "env/descriptor.h"
#include "env/scaling.h"

namespace halidegym {

namespace {

// A few levels of a nest with their regions.
constexpr size_t bytes_of_state = 4096;

}  // namespace

void Position::shrink() {
    presented.shrink_to_fit();
    descriptors.shrink_to_fit();
    scheduled.shrink_to_fit();
    schedule_features.shrink_to_fit();
}

size_t Position::bytes() const {
    return sizeof(Position) + bytes_of_state + presented.capacity() * sizeof(Decision) +
           scheduled.capacity() * sizeof(int) + (descriptors.capacity() + schedule_features.capacity()) * sizeof(float);
}

PositionMaker::PositionMaker(SpaceRef space, ObservationShape shape)
    : evaluator_(space), shape_(shape), rows_(static_cast<size_t>(space->problem->num_stages())) {}

std::span<const Decision> PositionMaker::list_decisions(const State &state, Workbench &bench) {
    expansion_.reset();
    bench.clear();
    return expansion_.emplace(state, bench).decisions();
}

Position PositionMaker::make(const LevelRef &before) {
    const State &state = expansion_.value().state();
    Position position = spare_ ? *std::exchange(spare_, std::nullopt) : Position(state);
    position.state = state;
    position.cost = std::numeric_limits<double>::quiet_NaN();
    if (state.is_complete()) {
        position.cost = state.cost(evaluator_);
    }
    add_schedule(position, before);
    add_decisions(position);
    expansion_.reset();
    return position;
}

const FeatureTable &PositionMaker::features(const State &state, const LevelRef &before) {
    if (state.is_complete()) {
        return evaluator_.last_features();
    }
    if (before && evaluator_.has_started_from(before)) {
        return evaluator_.features_of_child(before, *state.nest());
    }
    return evaluator_.features(state.nest());
}

void PositionMaker::add_schedule(Position &position, const LevelRef &before) {
    const FeatureTable &features = this->features(position.state, before);
    position.scheduled = features.stages;
    position.schedule_features.clear();
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

void PositionMaker::add_decisions(Position &position) {
    const auto legal = expansion_->decisions();
    const size_t count = std::min(legal.size(), static_cast<size_t>(shape_.decisions));
    position.num_legal = legal.size();
    position.presented.assign(legal.begin(), legal.begin() + static_cast<std::ptrdiff_t>(count));
    if (count < legal.size()) {
        for (size_t action = 0; action < count; action++) {
            position.presented[action] = legal[position.decision_index(action)];
        }
    }
    const auto columns = static_cast<size_t>(shape_.descriptor_size());
    position.descriptors.assign(count * columns, 0.0f);
    DescriptorWriter writer(shape_, *expansion_, position.presented, position.descriptors);
    for (size_t action = 0; action < count; action++) {
        writer.write(action);
    }
}

}  // namespace halidegym
