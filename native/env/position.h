#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cost/feature_table.h"
#include "env/observation.h"
#include "state/evaluator.h"
#include "state/state.h"

namespace halidegym {

// A state together with what an environment tells about it. Immutable, so that episodes of all threads can share it.
//
// A state with more legal decisions than the observation has room for presents an evenly spread subset of them, the
// first one included: action k of M stands for decision floor(k * n / M) of n. So the same state presents the same
// decisions in every episode.
struct Position {
    explicit Position(State state_) : state(std::move(state_)) {}

    State state;
    size_t num_legal = 0;
    std::vector<Decision> presented;                         // what the actions stand for
    std::vector<float> descriptors;                          // a row for each of them
    std::vector<int> scheduled;                              // stages that have schedule features
    std::vector<float> schedule_features;                    // a row for each of them
    double cost = std::numeric_limits<double>::quiet_NaN();  // of a complete schedule, in the cost model's unit

    bool is_over() const { return presented.empty(); }
    // The index among all legal decisions of the one that an action stands for.
    size_t decision_index(size_t action) const { return action * num_legal / presented.size(); }
    // To be kept for long.
    void shrink();
    // About what it occupies, and the part of the nest that it does not share with the position before.
    size_t bytes() const;
};

// Makes the positions of one space. Holds working memory, so each thread needs its own.
class PositionMaker {
public:
    PositionMaker(SpaceRef space, ObservationShape shape);

    // The legal decisions of a state, until the next call. They are found by means of `bench`, which must stay until
    // then or a position is made.
    std::span<const Decision> list_decisions(const State &state, Workbench &bench);
    // Of the state whose decisions were listed last. `before` is the nest that one decision led here from, null if
    // there were several or none. Throws InvalidParameter if a complete schedule's cost is no number.
    Position make(const LevelRef &before);
    // The next position takes over its memory.
    void recycle(Position position) { spare_ = std::move(position); }

private:
    void add_schedule(Position &position, const LevelRef &before);
    const FeatureTable &features(const State &state, const LevelRef &before);
    void add_decisions(Position &position);
    const float *scale(int stage, const FeatureRow &row);

    // A row as it was scaled last. Most entries are what they were a decision before.
    struct ScaledRow {
        FeatureRow features{};
        std::array<float, num_schedule_features> scaled{};
    };

    Evaluator evaluator_;
    ObservationShape shape_;
    std::optional<Expansion> expansion_;
    std::optional<Position> spare_;
    std::vector<ScaledRow> rows_;  // by stage
};

}  // namespace halidegym
