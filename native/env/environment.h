#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "env/observation.h"
#include "state/evaluator.h"
#include "state/state.h"

namespace halidegym {

// An episode over the decisions of a schedule, one action a decision.
//
// Decisions without an alternative are taken by the environment itself if `skip_forced` is set. A state with more legal
// decisions than the observation has room for presents an evenly spread subset of them, the first one included: action
// k of M stands for decision floor(k * n / M) of n. So the same state presents the same decisions in every episode.
//
// An episode belongs to one thread at a time, and threads can share a Space. A call during a call of another thread
// throws Error: to wait for its turn would not help, since neither thread would know which decisions led to what it
// sees.
class Environment {
public:
    Environment(ObservationShape shape, bool skip_forced);

    // Begins in this state, or in the next one that offers a choice, but does not complete a schedule: an episode
    // without any choice still has a step. Throws InvalidParameter if the problem exceeds the shape.
    void start(State state);

    // Takes a decision. An action that is no presented decision counts modulo their number. Returns whether the action
    // was legal. Throws InvalidParameter if there is no legal decision.
    bool step(int64_t action);

    State state() const;
    // None before the first start.
    std::optional<State> state_if_any() const;
    // Of a complete schedule, in the cost model's unit.
    double cost();
    int64_t num_legal_decisions() const;
    // Indices into the legal decisions that the actions stand for.
    std::vector<int64_t> presented_decisions() const;

    const ObservationShape &shape() const { return shape_; }
    bool skips_forced() const { return skip_forced_; }
    void observe(const Observation &out);

private:
    class Turn;

    const State &current() const;
    int64_t num_legal() const;
    size_t num_presented() const;
    size_t decision_of(size_t action) const;
    void take(size_t index);

    mutable std::atomic_flag in_use_;
    ObservationShape shape_;
    bool skip_forced_;
    std::optional<State> state_;
    std::optional<Expansion> expansion_;
    std::optional<Evaluator> evaluator_;
    ProblemObservation problem_observation_;
};

}  // namespace halidegym
