#pragma once

#include "transform/plan.h"
#include "transform/tables.h"

namespace halidegym {

// What the model says of a way to do one problem, alone: its context counts within the sub-plan. Throws
// InvalidParameter if a step of it is none of the space.
PlanCost cost_of_sub_plan(const TransformTables &tables, ProblemId id, const PlanNode &plan);

}  // namespace halidegym
