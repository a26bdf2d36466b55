#include "env/position.h"

#include <algorithm>

#include "observation/scaling.h"
#include "observation/spread.h"
#include "problem/error.h"

namespace halidegym {

namespace {

// A few levels of a nest with their regions.
constexpr size_t bytes_of_state = 4096;

}  // namespace

void Position::shrink() {
    presented.shrink_to_fit();
    decisions.rows.shrink_to_fit();
    decisions.stages.shrink_to_fit();
    children.shrink_to_fit();
    scheduled.shrink_to_fit();
    schedule_features.shrink_to_fit();
    stage_costs.shrink_to_fit();
}

size_t Position::bytes() const {
    const size_t num_floats =
        decisions.rows.capacity() + children.capacity() + schedule_features.capacity() + stage_costs.capacity();
    return sizeof(Position) + bytes_of_state + presented.capacity() * sizeof(Decision) +
           (scheduled.capacity() + decisions.stages.capacity()) * sizeof(int) + num_floats * sizeof(float) +
           row.places.capacity();
}

PositionMaker::PositionMaker(const SpaceRef &space, ObservationShape shape, double reference_cost)
    : evaluator_(space), shape_(shape), reference_cost_(reference_cost),
      rows_(static_cast<size_t>(space->problem->num_stages())) {
    if (shape.child_features) {
        child_reader_.emplace(space);
    }
}

std::span<const Decision> PositionMaker::list_decisions(const State &state, Workbench &bench) {
    expansion_.reset();
    bench.clear();
    return expansion_.emplace(state, bench).decisions();
}

Position PositionMaker::make(const LevelRef &before) {
    const State &state = expansion_.value().state();
    Position position = spare_ ? *std::exchange(spare_, std::nullopt) : Position(state);
    position.state = state;
    position.row = StateRow(state);
    add_schedule(position, before);
    add_decisions(position);
    expansion_.reset();
    return position;
}

double PositionMaker::rate(const State &state, const LevelRef &before) {
    if (!before || !evaluator_.has_started_from(before)) {
        return state.cost(evaluator_);
    }
    const auto cost = evaluator_.cost_of_child(before, *state.nest());
    if (!cost) {
        throw InternalError("a state of '" + state.space().problem->name + "' exceeds a limit of its space");
    }
    return *cost;
}

void PositionMaker::add_schedule(Position &position, const LevelRef &before) {
    const double cost = rate(position.state, before);
    position.cost = position.state.is_complete() ? cost : std::numeric_limits<double>::quiet_NaN();
    const FeatureTable &features = evaluator_.last_features();
    const auto costs = evaluator_.last_stage_costs();
    position.scheduled = features.stages;
    position.schedule_features.clear();
    position.schedule_features.reserve(features.stages.size() * num_schedule_features);
    position.stage_costs.clear();
    for (size_t i = 0; i < costs.size(); i++) {
        const int stage = features.stages[i];
        const ScaledRow &row = scale(stage, features.row(stage), costs[i]);
        position.schedule_features.insert(position.schedule_features.end(), row.scaled.begin(), row.scaled.end());
        position.stage_costs.push_back(row.log_cost);
    }
}

const PositionMaker::ScaledRow &PositionMaker::scale(int stage, const FeatureRow &row, float cost) {
    ScaledRow &known = rows_[static_cast<size_t>(stage)];
    for (size_t i = 0; i < row.size(); i++) {
        if (row[i] != known.features[i]) {
            known.features[i] = row[i];
            known.scaled[i] = scaled(row[i]);
        }
    }
    if (cost != known.cost) {
        known.cost = cost;
        known.log_cost = log_ratio(cost, reference_cost_);
    }
    return known;
}

void PositionMaker::add_decisions(Position &position) {
    const auto legal = expansion_->decisions();
    position.num_legal = legal.size();
    position.presented = evenly_spread(legal, static_cast<size_t>(shape_.decisions), std::move(position.presented));
    position.decisions.describe(*expansion_, position.presented, shape_.loops);
    if (child_reader_) {
        position.children = child_reader_->read(*expansion_, position.presented, reference_cost_).rows;
    }
}

}  // namespace halidegym
