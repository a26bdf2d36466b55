#pragma once

#include <string>
#include <string_view>

#include "transform/plan.h"

namespace halidegym {

// Reads the text of a plan for a problem (see TransformPlan::text). Throws InvalidParameter, which tells the position
// of what it cannot read, or of the step that does not apply.
PlanNodeRef parse_plan(const TransformProblem &problem, std::string_view text);

// A step alone, as in the text of a plan.
TransformStep parse_step(std::string_view text);

// The steps that apply to a problem, for messages.
std::string name_applicable_steps(const TransformProblem &problem);

}  // namespace halidegym
