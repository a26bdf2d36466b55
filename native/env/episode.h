#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "env/position.h"
#include "env/position_tree.h"

namespace halidegym {

// Where an episode begins.
struct Start {
    State state;
    double reference_cost = 1;    // that costs are told relative to
    int64_t num_evaluations = 0;  // that count for the episode already
};

// An episode over the decisions of a schedule, one action a decision. Decisions without an alternative are taken by the
// episode itself if `skip_forced` is set. For one thread at a time; episodes of several threads can share `trees`.
class Episode {
public:
    Episode(ObservationShape shape, bool skip_forced, std::shared_ptr<PositionTrees> trees);
    Episode(const Episode &) = delete;
    Episode &operator=(const Episode &) = delete;

    // Begins in this state, or in the next one that offers a choice, but does not complete a schedule: an episode
    // without any choice still has a step. Throws InvalidParameter if the problem exceeds the shape, the reference cost
    // is no positive number, or the number of evaluations is negative or more than 2^62.
    void start(Start start);
    // Begins where it began last. Throws InvalidParameter if it never did.
    void restart();

    // Takes a decision. An action that is no presented decision counts modulo their number. Returns whether the action
    // was legal. Throws InvalidParameter, and stays where it is, if there is no legal decision or a cost is no number.
    bool step(int64_t action);

    bool has_started() const { return node_ != nullptr || own_; }
    // The start that leads here; none before the first one.
    std::optional<Start> here() const;
    // Throws InvalidParameter before the first start.
    const Position &position() const;

    // Nests whose features the positions since the start have shown.
    int64_t num_evaluations() const { return num_evaluations_; }

    // Updates memory that shows an earlier position, or nothing.
    void observe(Shown &shown, const Observation &out) const;
    // Writes all of it.
    void observe(const Observation &out) const;

    const ObservationShape &shape() const { return shape_; }
    bool skips_forced() const { return skip_forced_; }

private:
    // `before` is the state that a decision led from; null at the beginning.
    void enter(State state, const State *before, PositionTree::Slot *slot);
    void begin();

    ObservationShape shape_;
    bool skip_forced_;
    std::shared_ptr<PositionTrees> trees_;
    std::shared_ptr<PositionTree> tree_;
    std::optional<PositionMaker> maker_;
    std::optional<State> first_;
    const PositionTree::Node *node_ = nullptr;  // of the current position, if the tree keeps it
    std::optional<Position> own_;               // if not
    int64_t num_evaluations_ = 0;
};

}  // namespace halidegym
