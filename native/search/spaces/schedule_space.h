#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nest/equality.h"
#include "nest/hash.h"
#include "nest/nest_maker.h"
#include "search/spaces/optional_hooks.h"
#include "state/evaluator.h"
#include "state/state.h"

namespace halidegym {

// Halide schedules as a search space. Holds the evaluator's working memory, so each thread needs its own.
class ScheduleSpace {
public:
    using State = halidegym::State;
    using Decision = halidegym::Decision;
    using Children = Expansion;
    using Cost = float;

    static constexpr const char *limits = "memory_limit or max_recompute";

    // Told the features and the cost of every state that is evaluated, in order.
    using Observer = std::function<void(const FeatureTable &, double)>;

    explicit ScheduleSpace(SpaceRef space, Observer observer = {})
        : space_(space), evaluator_(std::move(space)), observer_(std::move(observer)) {}
    ScheduleSpace(const ScheduleSpace &other) : ScheduleSpace(other.space_, other.observer_) {}

    State root() const { return State(space_); }
    bool is_complete(const State &state) const { return state.is_complete(); }
    int depth(const State &state) const { return state.num_decisions_made(); }
    int max_depth() const { return 2 * space_->problem->num_nodes(); }
    Children children(const State &state) const { return Expansion(state); }
    Children unlisted_children(const State &state) const { return Expansion(state, Expansion::Unlisted{}); }
    Children children_to_rate(const State &state) {
        siblings_.clear();
        return Expansion(state, siblings_);
    }
    // The same for decisions that are known already.
    Children unlisted_children_to_rate(const State &state) {
        siblings_.clear();
        return Expansion(state, Expansion::Unlisted{&siblings_});
    }
    State apply(const State &state, const Decision &decision) const { return state.apply(decision); }
    template <typename Random>
    std::optional<Decision> random_decision(Children &children, Random &random) const {
        return children.draw([&](uint64_t bound) { return uniform_below(random, bound); });
    }
    bool is_legal(Children &children, const Decision &decision) const { return children.is_legal(decision); }
    void start_walk(const State &state) { walk_ = passing_nests(state.nest()); }
    Children children_of_walk(const State &state) {
        return Expansion(state.view(), Expansion::Unlisted{&walk_->bench});
    }
    State next_of_walk(State &&state, Children &children, const Decision &decision) {
        const LevelRef nest = children.child_nest(walk_->bench, decision);
        // The root owns the nests of the whole walk, where it is not the one that the decision leaves as it is.
        const bool is_made = nest != state.nest();
        return std::move(state).successor(decision, is_made ? LevelRef(walk_, nest.get()) : state.nest());
    }
    std::optional<Decision> only_decision(const State &state) const { return Expansion::only_decision(state); }
    bool is_watched() const { return static_cast<bool>(observer_); }
    bool inherits_cost(const Decision &decision) const { return decision.kind == Decision::Kind::Pass; }
    std::optional<double> cost(const State &state) { return observed(evaluator_.cost(state.nest())); }
    // Of a child, without building its state.
    std::optional<double> cost_of_child(Children &children, const Decision &decision) {
        return observed(evaluator_.cost_of_child(children.state().nest(), nest_of_child(children, decision)));
    }
    struct Glimpse {
        const Level *nest;
        int num_decisions_made;
        uint64_t hash(int depth) const { return structural_hash(*nest, num_decisions_made, depth); }
    };
    Glimpse glimpse_of_child(Children &children, const Decision &decision) {
        return {&nest_of_child(children, decision), children.state().num_decisions_made() + 1};
    }
    uint64_t hash(const State &state, int depth) const { return state.hash(depth); }
    bool equal(const State &a, const State &b) const {
        return a.num_decisions_made() == b.num_decisions_made() && equal_nests(*a.nest(), *b.nest());
    }
    static uint64_t hash_of_path(std::span<const Decision> path) {
        uint64_t hash = path.size();
        for (const Decision &decision : path) {
            const uint64_t head = static_cast<uint64_t>(decision.kind) | uint64_t{decision.vector_dim} << 8 |
                                  uint64_t{decision.depth} << 16 | uint64_t{decision.tile} << 32;
            hash = split_seed(hash ^ head, decision.inner_tile);
        }
        return hash;
    }

private:
    // The nests of one walk, which go together.
    struct PassingNests {
        Workbench bench;
        LevelRef start;  // which those that were made refer to
    };

    // Those of a walk that nobody refers to any longer, or new ones.
    std::shared_ptr<PassingNests> passing_nests(const LevelRef &start) {
        walk_ = nullptr;
        evaluator_.release();
        auto unused = std::ranges::find(walks_, 1, &std::shared_ptr<PassingNests>::use_count);
        if (unused == walks_.end()) {
            unused = walks_.insert(unused, std::make_shared<PassingNests>());
        }
        (*unused)->bench.clear();
        (*unused)->start = start;
        return *unused;
    }

    const Level &nest_of_child(Children &children, const Decision &decision) {
        bench_.clear();
        return *children.child_nest(bench_, decision);
    }
    std::optional<double> observed(std::optional<double> cost) {
        if (cost && observer_) {
            observer_(evaluator_.last_features(), *cost);
        }
        return cost;
    }

    SpaceRef space_;
    Workbench siblings_;  // of what the children that are rated share
    Workbench bench_;     // of the child that is looked at
    Evaluator evaluator_;
    Observer observer_;
    std::vector<std::shared_ptr<PassingNests>> walks_;
    std::shared_ptr<PassingNests> walk_;  // the one that goes on
};

static_assert(HasLimits<ScheduleSpace>);
static_assert(DrawsDecisions<ScheduleSpace>);
static_assert(BuildsWalks<ScheduleSpace>);
static_assert(RatesChildren<ScheduleSpace>);
static_assert(ListsChildrenToRate<ScheduleSpace>);
static_assert(ShowsChildren<ScheduleSpace>);
static_assert(BuildsUnlistedChildren<ScheduleSpace>);
static_assert(MayBeWatched<ScheduleSpace>);
static_assert(KnowsLegality<ScheduleSpace>);
static_assert(KnowsForcedDecisions<ScheduleSpace>);
static_assert(HashesPaths<ScheduleSpace>);

}  // namespace halidegym
