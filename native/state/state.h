#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nest/level.h"
#include "nest/nest_maker.h"
#include "state/decision.h"
#include "state/evaluator.h"
#include "state/parallel_options.h"
#include "state/placements.h"
#include "state/space.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

// What the next decision is about: where the Func is computed, or how its loops at the root become parallel tasks.
enum class Phase : uint8_t { Place, Parallelize };

// A partial or complete schedule: a nest, and how many decisions led to it. An immutable value that shares its levels
// with other states; this is the one state machine of environments, planners and policies (section 7).
class State {
public:
    // Nothing decided.
    explicit State(SpaceRef space);

    const Space &space() const { return *space_; }
    const SpaceRef &space_ref() const { return space_; }
    const LevelRef &nest() const { return nest_; }
    int num_decisions_made() const { return num_decisions_made_; }
    // Of a complete schedule: two per Func, inputs included.
    int num_decisions() const { return 2 * space_->problem->num_nodes(); }
    bool is_complete() const { return num_decisions_made_ == num_decisions(); }
    // What the next decision is about. The state must not be complete.
    const Node &next_func() const { return func_at(num_decisions_made_); }
    Phase next_phase() const { return phase_at(num_decisions_made_); }

    // The state after one of its decisions. To visit many children, use Expansion.
    State apply(const Decision &decision) const;
    // The one that a decision turns this one into, given its nest.
    State successor(const Decision &decision, LevelRef nest) &&;

    // The same for as long as this one lives: it owns nothing, and takes less to copy.
    State view() const;

    // The decisions that led here, the first one first.
    std::vector<Decision> decisions_made() const;
    // Calls `visit(func, phase, decision)` for each of them, the last one first.
    template <typename Visit>
    void for_each_decision_made(Visit visit) const;

    // Of the cost model, by an evaluator of the state's space. Legal decisions lead to states that have one.
    double cost(Evaluator &evaluator) const;

    uint64_t hash(int depth) const;

private:
    State() = default;

    // Shared by all states that it leads to.
    struct Step {
        Decision decision;
        std::shared_ptr<const Step> before;
    };

    // What the decision after so many others is about.
    const Node &func_at(int num_decisions_made) const;
    Phase phase_at(int num_decisions_made) const;

    SpaceRef space_;
    LevelRef nest_;
    std::shared_ptr<const Step> last_step_;  // null if nothing is decided
    int num_decisions_made_ = 0;
};

template <typename Visit>
void State::for_each_decision_made(Visit visit) const {
    int index = num_decisions_made_;
    for (const Step *step = last_step_.get(); step != nullptr; step = step->before.get()) {
        index--;
        visit(func_at(index), phase_at(index), step->decision);
    }
}

// The legal decisions of one state, in the reference's order, and the children they lead to, built one at a time
// (sections 7.3, 7.4 and 17).
class Expansion {
public:
    explicit Expansion(State state);
    // Knows the children of decisions that it is given, without a list of them.
    struct Unlisted {
        NestMaker *make = nullptr;  // of what its children share, and so of all that are asked for; null: they last
    };
    Expansion(State state, Unlisted unlisted);
    // With a list, and with what its children share made by `make`: ask for none that shall last longer.
    Expansion(State state, NestMaker &make);

    const State &state() const { return state_; }

    // Draws a number below its argument, each as likely as the others.
    using UniformBelow = std::function<uint64_t(uint64_t)>;
    // One of the legal decisions, each as likely as the others; empty if there is none. Lists them only if that cannot
    // be avoided (section 17.4), and draws nothing if there is obviously one alone.
    std::optional<Decision> draw(const UniformBelow &below);
    // Whether a decision, say of another state, is a legal one here. Lists nothing if that can be avoided.
    bool is_legal(const Decision &decision);
    // Where such a decision leads if it is.
    static std::optional<State> child_if_legal(const State &state, const Decision &decision);
    // The decision of a state that has just one.
    static std::optional<Decision> only_decision(const State &state);

    std::span<const Decision> decisions() const { return decisions_; }
    State child(const Decision &decision);
    // The nest of a child, its levels made by `make`.
    LevelRef child_nest(NestMaker &make, const Decision &decision);

    // What a decision's tuples stand for; empty where the kind has none.
    Extents outer_tile(const Decision &decision);
    Extents inner_tile(const Decision &decision);
    Extents tasks(const Decision &decision) const;
    // The level that a placement refers to; null for other kinds.
    const Level *level(const Decision &decision);
    // What a placement asks of the Func, given the halves of its tiling, if it has one.
    Placements::Demands demands(const Decision &decision, const Extents &outer, const Extents &inner) {
        return placements_.value().demands(decision, outer, inner);
    }
    // How often the Func is called if it is inlined: in the whole run, and at most by one iteration of a leaf.
    struct InlineCalls {
        int64_t total = 0;
        int64_t largest = 0;
    };
    const InlineCalls &inline_calls();

private:
    // Whether the nests of placements need not be looked at to tell if they are legal.
    bool is_easy() const { return placements_ && state_.space().options.memory_limit < 0; }
    // Whether all parallel options up to the first wasteful one are legal.
    bool has_even_options_alone() const;
    bool can_only_pass() const { return !placements_ && !parallel_options_ && !state_.is_complete(); }
    std::span<const Decision> all();
    void enumerate();
    void enumerate_placements();
    void enumerate_parallel_options();
    bool may_inline();
    bool find_may_inline();
    bool inlining_is_accepted();
    bool inlining_is_forced() const;
    bool is_accepted(const Decision &decision);
    const ParallelOption &parallel_option(const Decision &decision) const;

    State state_;
    std::vector<Decision> decisions_;
    bool is_listed_ = false;
    std::optional<bool> may_inline_;           // empty until asked for
    std::optional<InlineCalls> inline_calls_;  // the same
    std::optional<Placements> placements_;
    std::shared_ptr<const ParallelOptions> parallel_options_;  // null if there are none
    // For the limits that only a child's nest tells; empty until needed.
    struct Judge {
        explicit Judge(const SpaceRef &space) : evaluator(space) {}
        Evaluator evaluator;
        Workbench bench;
    };
    std::unique_ptr<Judge> judge_;
};

}  // namespace halidegym
