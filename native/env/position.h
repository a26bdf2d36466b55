#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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
    // About what it occupies, and the part of the nest that it does not share with the position before.
    size_t bytes() const;
};

// Makes the positions of one space. Holds working memory, so each thread needs its own.
class PositionMaker {
public:
    PositionMaker(SpaceRef space, ObservationShape shape);

    // `expansion` is that of the state. Throws InvalidParameter if a complete schedule's cost is no number.
    Position make(const State &state, Expansion &expansion);

private:
    void add_schedule(Position &position);
    void add_decisions(Position &position, Expansion &expansion) const;
    const float *scale(int stage, const FeatureRow &row);

    // A row as it was scaled last. Most entries are what they were a decision before.
    struct ScaledRow {
        FeatureRow features{};
        std::array<float, num_schedule_features> scaled{};
    };

    Evaluator evaluator_;
    ObservationShape shape_;
    std::vector<ScaledRow> rows_;  // by stage
};

}  // namespace halidegym
