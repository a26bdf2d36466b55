#pragma once

#include <string>
#include <string_view>

#include "transform/plan.h"

namespace halidegym {

// Plans as one line of text:
//
//     plan  = step                                         e.g.  split 16 inplace (codelet 4) (codelet 4)
//     step  = "codelet" L | "loop" b "(" step ")" | "split" r place "(" step ")" "(" step ")"

// Throws InvalidParameter, which tells the position of what cannot be read, or of the step that does not apply.
PlanNodeRef parse_plan(const TransformProblem &problem, std::string_view text);

// Of a plan in which a `?` stands for problems about which nothing is decided; these are null.
PlanNodeRef parse_partial_plan(const TransformProblem &problem, std::string_view text);

// Null is open.
std::string to_string(const PlanNode *plan);

}  // namespace halidegym
