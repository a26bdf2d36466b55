#include "transform/space.h"

#include <algorithm>

#include "problem/error.h"

namespace halidegym {

TransformSpace::TransformSpace(const TransformSpaceOptions &options)
    : shared_(std::make_shared<const Shared>(options)) {}

bool TransformSpace::owns(const State &state) const {
    const TransformTables &own = state.tables();
    return own.closure().n() == closure().n() && own.closure().rules() == closure().rules() &&
           own.model().context() == tables().model().context();
}

size_t TransformSpace::max_choices() const {
    size_t most = 0;
    for (ProblemId id = 0; id < closure().num_problems(); id++) {
        most = std::max(most, closure().choices(id).size());
    }
    return most;
}

uint32_t TransformSpace::num_decisions(const State &state) const {
    if (state.is_complete() || order() == DerivationOrder::Any) {
        return state.tree()->num_decisions;
    }
    return open_problem(*state.tree(), 0).num_decisions;
}

// Searches rate no root, so that its children cannot inherit what it costs.
TransformSpace::Decision TransformSpace::decision_about(uint32_t open, ProblemId id, uint32_t choice) const {
    return {.open = static_cast<uint16_t>(open),
            .keeps_fallback = id != closure().whole() && choice == tables().fallback(id),
            .step = closure().choices(id)[choice].step};
}

TransformSpace::Decision TransformSpace::decision(const State &state, uint32_t index) const {
    const Derivation *tree = state.tree().get();
    uint32_t open = 0;
    while (!tree->is_open()) {
        const Derivation *first = tree->subs[0].get();
        if (index < first->num_decisions) {
            tree = first;
            continue;
        }
        index -= first->num_decisions;
        open += first->num_open;
        tree = tree->subs[1].get();
    }
    return decision_about(open, tree->problem, index);
}

std::vector<TransformSpace::Decision> TransformSpace::list(const State &state) const {
    std::vector<Decision> decisions;
    const uint32_t num_open =
        order() == DerivationOrder::Any ? state.tree()->num_open : std::min<uint32_t>(state.tree()->num_open, 1);
    for (uint32_t open = 0; open < num_open; open++) {
        const ProblemId id = open_problem(*state.tree(), open).problem;
        for (uint32_t choice = 0; choice < closure().choices(id).size(); choice++) {
            decisions.push_back(decision_about(open, id, choice));
        }
    }
    return decisions;
}

std::optional<uint32_t> TransformSpace::choice_of(const State &state, const Decision &decision) const {
    if (decision.open >= state.tree()->num_open || (decision.open > 0 && order() == DerivationOrder::First)) {
        return std::nullopt;
    }
    const auto choices = closure().choices(open_problem(*state.tree(), decision.open).problem);
    const auto found = std::ranges::find(choices, decision.step, &StepChoice::step);
    return found == choices.end() ? std::nullopt : std::optional(static_cast<uint32_t>(found - choices.begin()));
}

TransformSpace::State TransformSpace::apply(const State &state, const Decision &decision) const {
    const auto choice = choice_of(state, decision);
    if (!choice) {
        throw InvalidParameter(to_string(decision.step) + " is no decision about open problem " +
                               std::to_string(decision.open) + " of \"" + state.text() + "\"");
    }
    return {shared_, shared_->maker.derive(state.tree(), decision.open, *choice)};
}

bool TransformSpace::is_legal(Children &children, const Decision &decision) const {
    const auto choice = choice_of(children.parent(), decision);
    return choice &&
           decision ==
               decision_about(decision.open, open_problem(*children.parent().tree(), decision.open).problem, *choice);
}

std::optional<double> TransformSpace::cost(const State &state) const {
    return has_cost_of_model() ? state.tree()->cost.microseconds : cost_of(state.plan());
}

std::optional<double> TransformSpace::cost_of_child(Children &children, const Decision &decision) const {
    const auto choice = choice_of(children.parent(), decision);
    if (!has_cost_of_model() || !choice) {
        return cost(children.child(decision));
    }
    return shared_->maker.cost_after(*children.parent().tree(), decision.open, *choice).microseconds;
}

// Measurements take longer than the lock is worth, so others may ask for other plans meanwhile.
std::optional<double> TransformSpace::cost_of(const TransformPlan &plan) const {
    Memo &memo = shared_->memo;
    const std::string text = plan.text();
    {
        const std::lock_guard lock(memo.mutex);
        if (const auto known = memo.costs.find(text); known != memo.costs.end()) {
            return known->second;
        }
    }
    const std::optional<double> cost = shared_->cost(plan);
    const std::lock_guard lock(memo.mutex);
    return memo.costs.emplace(text, cost).first->second;
}

TransformSpace::State TransformSpace::state(std::string_view text) const {
    const PlanNodeRef plan = parse_partial_plan(closure().problem(closure().whole()), text);
    return {shared_, shared_->maker.derivation_of(closure().whole(), plan.get())};
}

TransformSpace::Optimum TransformSpace::optimum() const {
    if (!has_cost_of_model()) {
        throw InvalidParameter("the optimum is known by the model's costs only; ask a space without `cost` for it");
    }
    const TransformTables::Optimum optimum = tables().optimum();
    return {optimum.microseconds, optimum.choices};
}

}  // namespace halidegym
