#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "env/observation.h"
#include "observation/spread.h"
#include "state/evaluator.h"
#include "state/state.h"

namespace halidegym {

// A state together with what an environment tells about it. Immutable, so that episodes of all threads can share it.
//
// A state with more legal decisions than the observation has room for presents an evenly spread subset of them, the
// first one included: action k of M stands for decision floor(k * n / M) of n. So the same state presents the same
// decisions in every episode.
struct Position {
    explicit Position(State state_) : state(std::move(state_)), row(state) {}

    State state;
    StateRow row;
    size_t num_legal = 0;
    std::vector<Decision> presented;                         // what the actions stand for
    DecisionRows decisions;                                  // of these
    std::vector<float> children;                             // rows of what they lead to, if the shape has them
    std::vector<int> scheduled;                              // stages that have schedule features
    std::vector<float> schedule_features;                    // a row for each of them
    std::vector<float> stage_costs;                          // of each of them, log(cost / reference cost)
    double cost = std::numeric_limits<double>::quiet_NaN();  // of a complete schedule, in the cost model's unit

    bool is_over() const { return presented.empty(); }
    // Nests whose features are shown.
    int64_t num_evaluations() const {
        return (scheduled.empty() ? 0 : 1) + static_cast<int64_t>(children.size()) / num_child_features;
    }
    // The index among all legal decisions of the one that an action stands for.
    size_t decision_index(size_t action) const { return spread_index(action, presented.size(), num_legal); }
    // To be kept for long.
    void shrink();
    // About what it occupies, and the part of the nest that it does not share with the position before.
    size_t bytes() const;
};

// Makes the positions of one space. Holds working memory, so each thread needs its own.
class PositionMaker {
public:
    PositionMaker(const SpaceRef &space, ObservationShape shape, double reference_cost);

    // The legal decisions of a state, until the next call. They are found by means of `bench`, which must stay until
    // then or a position is made.
    std::span<const Decision> list_decisions(const State &state, Workbench &bench);
    // Of the state whose decisions were listed last. `before` is the nest that one decision led here from, null if
    // there were several or none. Throws InvalidParameter if a cost is no number.
    Position make(const LevelRef &before);
    // The next position takes over its memory.
    void recycle(Position position) { spare_ = std::move(position); }

private:
    void add_schedule(Position &position, const LevelRef &before);
    double rate(const State &state, const LevelRef &before);
    void add_decisions(Position &position);
    // A row as it was scaled last. Most entries are what they were a decision before.
    struct ScaledRow {
        FeatureRow features{};
        std::array<float, num_schedule_features> scaled{};
        float cost = std::numeric_limits<float>::quiet_NaN();
        float log_cost = 0;  // relative to the reference
    };
    const ScaledRow &scale(int stage, const FeatureRow &row, float cost);

    Evaluator evaluator_;
    ObservationShape shape_;
    double reference_cost_;
    std::optional<ChildReader> child_reader_;
    std::optional<Expansion> expansion_;
    std::optional<Position> spare_;
    std::vector<ScaledRow> rows_;  // by stage
};

}  // namespace halidegym
