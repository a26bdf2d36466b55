#include "transform/sub_plan.h"

#include <algorithm>
#include <array>

#include "problem/error.h"

namespace halidegym {

PlanCost cost_of_sub_plan(const TransformTables &tables, ProblemId id, const PlanNode &plan) {
    const auto choices = tables.closure().choices(id);
    const auto choice = std::ranges::find(choices, plan.step, &StepChoice::step);
    if (choice == choices.end()) {
        throw InvalidParameter(to_string(plan.step) + " is no step of this space for the problem " +
                               to_string(tables.closure().problem(id)));
    }
    std::array<PlanCost, 2> subs;
    const std::array children{plan.first.get(), plan.second.get()};
    for (size_t i = 0; i < choice->num_subs(); i++) {
        subs[i] = cost_of_sub_plan(tables, choice->subs[i], *children[i]);
    }
    return tables.cost_of(id, *choice, subs);
}

}  // namespace halidegym
