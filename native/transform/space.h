#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "search/spaces/optional_hooks.h"
#include "search/spaces/search_space.h"
#include "search/spaces/splitmix.h"
#include "transform/derivation.h"
#include "transform/plan.h"
#include "transform/tables.h"
#include "transform/text.h"

namespace halidegym {

enum class DerivationOrder : uint8_t {
    First,  // the first open problem is decided: every plan is derived in one way
    Any,    // each of them may be: plans are met again in many orders
};

// What a complete plan costs, in microseconds.
using TransformCost = std::function<std::optional<double>(const TransformPlan &)>;

struct TransformSpaceOptions {
    int n = 1024;
    TransformRules rules;
    DerivationOrder order = DerivationOrder::Any;
    double context = 0;  // of the model
    TransformCost cost;  // empty: that of the model
};

// Plans of a transform as a search space. A partial plan costs what it costs with the fallback for all that is open, so
// that every cost is that of a plan that can be run.
class TransformSpace {
    struct Shared;

public:
    class State {
    public:
        State(std::shared_ptr<const Shared> shared, DerivationRef tree)
            : shared_(std::move(shared)), tree_(std::move(tree)) {}

        const DerivationRef &tree() const { return tree_; }
        const TransformTables &tables() const { return shared_->tables; }
        bool is_complete() const { return tree_->num_open == 0; }
        // With a `?` for each open problem.
        std::string text() const { return to_string(shared_->maker.plan_of(*tree_).get()); }
        // With the fallback for what is open.
        TransformPlan plan() const { return {tables().closure().n(), shared_->maker.completed(*tree_)}; }
        TransformSpace space() const { return TransformSpace(shared_); }
        // Of the model, once the first open problem has been decided so.
        PlanCost cost_after(uint32_t choice) const { return shared_->maker.cost_after(*tree_, 0, choice); }

        friend bool operator==(const State &a, const State &b) { return halidegym::equal(a.tree_, b.tree_); }

    private:
        friend class TransformSpace;
        std::shared_ptr<const Shared> shared_;
        DerivationRef tree_;
    };

    struct Decision {
        uint16_t open = 0;            // problem, counted from the left
        bool keeps_fallback = false;  // the step is the fallback's, so that the cost stays as it is
        TransformStep step;

        friend bool operator==(const Decision &, const Decision &) = default;
    };

    class Children {
    public:
        Children(const TransformSpace &space, State parent) : space_(&space), parent_(std::move(parent)) {}
        std::span<const Decision> decisions() {
            if (decisions_.empty()) {
                decisions_ = space_->list(parent_);
            }
            return decisions_;
        }
        State child(const Decision &decision) const { return space_->apply(parent_, decision); }
        const State &parent() const { return parent_; }

    private:
        const TransformSpace *space_;
        State parent_;
        std::vector<Decision> decisions_;
    };

    // Throws InvalidParameter.
    explicit TransformSpace(const TransformSpaceOptions &options);

    const TransformTables &tables() const { return shared_->tables; }
    const StepClosure &closure() const { return tables().closure(); }
    DerivationOrder order() const { return shared_->order; }
    bool has_cost_of_model() const { return !shared_->cost; }

    State root() const { return {shared_, shared_->maker.open(closure().whole())}; }
    // Whether a state is of this space, or of an equal one.
    bool owns(const State &state) const;
    bool is_complete(const State &state) const { return state.is_complete(); }
    int depth(const State &state) const { return state.tree()->num_decided; }
    int max_depth() const { return tables().max_depth(closure().whole()); }
    Children children(const State &state) const { return {*this, state}; }
    State apply(const State &state, const Decision &decision) const;
    bool inherits_cost(const Decision &decision) const { return decision.keeps_fallback; }
    std::optional<double> cost(const State &state) const;
    std::optional<double> cost_of_child(Children &children, const Decision &decision) const;
    uint64_t hash(const State &state, int depth) const { return structural_hash(*state.tree(), depth); }
    bool equal(const State &a, const State &b) const { return a == b; }

    template <typename Random>
    std::optional<Decision> random_decision(Children &children, Random &random) const {
        const uint32_t number = num_decisions(children.parent());
        if (number == 0) {
            return std::nullopt;
        }
        return decision(children.parent(), number > 1 ? static_cast<uint32_t>(uniform_below(random, number)) : 0);
    }
    bool is_legal(Children &children, const Decision &decision) const;
    std::optional<Decision> only_decision(const State &state) const {
        return num_decisions(state) == 1 ? std::optional(decision(state, 0)) : std::nullopt;
    }

    // The most steps that apply to one problem.
    size_t max_choices() const;
    uint32_t num_decisions(const State &state) const;
    // One of them, in the order of `Children::decisions`: by open problem, then as `steps_of` has its steps.
    Decision decision(const State &state, uint32_t index) const;

    // The state with this text, in which a `?` stands for open problems. Throws InvalidParameter.
    State state(std::string_view text) const;

    // The least cost of the model, and where the decisions to it stand among all. Throws InvalidParameter if other
    // costs count here.
    struct Optimum {
        double cost;
        std::vector<uint32_t> actions;
    };
    Optimum optimum() const;

private:
    // Costs that were asked for, by the text of the plan.
    struct Memo {
        std::mutex mutex;
        std::unordered_map<std::string, std::optional<double>> costs;
    };
    struct Shared {
        explicit Shared(const TransformSpaceOptions &options)
            : tables(StepClosure(options.n, options.rules), TransformModel(options.context)), maker(tables),
              order(options.order), cost(options.cost) {}
        TransformTables tables;
        DerivationMaker maker;
        DerivationOrder order;
        TransformCost cost;
        mutable Memo memo;
    };

    explicit TransformSpace(std::shared_ptr<const Shared> shared) : shared_(std::move(shared)) {}
    std::vector<Decision> list(const State &state) const;
    Decision decision_about(uint32_t open, ProblemId id, uint32_t choice) const;
    // The place of a decision's step among the choices.
    std::optional<uint32_t> choice_of(const State &state, const Decision &decision) const;
    std::optional<double> cost_of(const TransformPlan &plan) const;

    std::shared_ptr<const Shared> shared_;
};

static_assert(DrawsDecisions<TransformSpace>);
static_assert(KnowsLegality<TransformSpace>);
static_assert(KnowsForcedDecisions<TransformSpace>);
static_assert(RatesChildren<TransformSpace>);

}  // namespace halidegym
