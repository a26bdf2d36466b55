#include "env/episode.h"

#include <cmath>
#include <string>

#include "problem/error.h"

namespace halidegym {

Episode::Episode(ObservationShape shape, bool skip_forced, std::shared_ptr<PositionTrees> trees)
    : shape_(checked(shape)), skip_forced_(skip_forced), trees_(std::move(trees)) {}

void Episode::start(Start start) {
    if (!(start.reference_cost > 0 && std::isfinite(start.reference_cost))) {
        throw InvalidParameter("reference_cost=" + std::to_string(start.reference_cost) +
                               ": costs are told relative to it; give a positive number");
    }
    constexpr int64_t most_evaluations = int64_t{1} << 62;  // no episode adds as many
    if (start.num_evaluations < 0 || start.num_evaluations > most_evaluations) {
        throw InvalidParameter("evaluations=" + std::to_string(start.num_evaluations) +
                               " is out of range; give a number from 0 to 2^62");
    }
    const SpaceRef &space = start.state.space_ref();
    const Problem &problem = *space->problem;
    const ObservationShape needed = shape_of(problem);
    if (!shape_.holds(needed)) {
        throw InvalidParameter("The problem of '" + problem.name + "' has " + std::to_string(needed.stages) +
                               " stages, " + std::to_string(needed.edges) + " edges and up to " +
                               std::to_string(needed.loops) + " loops a stage; the environment has room for " +
                               std::to_string(shape_.stages) + ", " + std::to_string(shape_.edges) + " and " +
                               std::to_string(shape_.loops) + ": make it for this problem too");
    }
    if (!tree_ || tree_->space() != space || tree_->reference_cost() != start.reference_cost) {
        node_ = nullptr;
        own_.reset();
        maker_.reset();
        tree_ = trees_->tree_of(space, start.reference_cost);
    }
    first_ = std::move(start.state);
    begin();
    num_evaluations_ = start.num_evaluations + position().num_evaluations();
}

void Episode::restart() {
    if (!first_) {
        throw InvalidParameter("The environment is in no state yet; reset it");
    }
    begin();
    num_evaluations_ = position().num_evaluations();
}

void Episode::begin() {
    if (first_->num_decisions_made() > 0) {
        enter(*first_, nullptr, nullptr);
    } else if (const auto *root = tree_->root().node()) {
        node_ = root;
    } else {
        enter(*first_, nullptr, &tree_->root());
    }
}

bool Episode::step(int64_t action) {
    const Position &here = position();
    if (here.is_over()) {
        throw InvalidParameter("The episode is over, no decision is left; reset the environment");
    }
    const auto count = static_cast<int64_t>(here.presented.size());
    const bool is_legal = action >= 0 && action < count;
    const auto taken = static_cast<size_t>((action % count + count) % count);
    PositionTree::Slot *slot = node_ != nullptr ? &node_->child(taken) : nullptr;
    if (const auto *next = slot != nullptr ? slot->node() : nullptr) {
        node_ = next;
    } else {
        enter(here.state.apply(here.presented[taken]), &here.state, slot);
    }
    num_evaluations_ += position().num_evaluations();
    return is_legal;
}

void Episode::enter(State state, const State *before, PositionTree::Slot *slot) {
    if (!maker_) {
        maker_.emplace(tree_->space(), shape_, tree_->reference_cost());
    }
    const auto is_forced = [&](std::span<const Decision> decisions) {
        return skip_forced_ && decisions.size() == 1 &&
               (before != nullptr || state.num_decisions_made() + 1 < state.num_decisions());
    };
    LevelRef nest_before = before != nullptr ? before->nest() : nullptr;
    auto bench = trees_->take_bench();
    auto decisions = maker_->list_decisions(state, *bench);
    while (is_forced(decisions)) {
        State next = state.apply(decisions.front());
        if (next.nest() != state.nest()) {
            nest_before = nullptr;
        }
        state = std::move(next);
        decisions = maker_->list_decisions(state, *bench);
    }
    Position position = maker_->make(nest_before);
    trees_->give_back(std::move(bench));
    node_ = slot != nullptr ? tree_->offer(*slot, position) : nullptr;
    if (node_ == nullptr) {
        if (own_) {
            maker_->recycle(*std::move(own_));
        }
        own_ = std::move(position);
    }
}

std::optional<Start> Episode::here() const {
    if (!has_started()) {
        return std::nullopt;
    }
    return Start{position().state, tree_->reference_cost(), num_evaluations_ - position().num_evaluations()};
}

const Position &Episode::position() const {
    if (node_ != nullptr) {
        return node_->position();
    }
    if (!own_) {
        throw InvalidParameter("The environment is in no state yet; reset it");
    }
    return *own_;
}

void Episode::observe(Shown &shown, const Observation &out) const {
    const Position &here = position();  // throws before there is a tree
    write(here, tree_->problem_rows(), shape_, shown, out);
}

void Episode::observe(const Observation &out) const {
    Shown nothing;
    observe(nothing, out);
}

}  // namespace halidegym
