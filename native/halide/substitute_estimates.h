#pragma once

#include <Halide.h>

namespace halidegym {

// The expression with every parameter and every min or extent of an input buffer replaced, verbatim, by its estimate
// (docs/specification/function-dag.md, section 3). Throws MissingEstimate for one that has none.
Halide::Expr substitute_estimates(const Halide::Expr &e);

// Whether a parameter or any metadata of an input buffer occurs in the expression.
bool has_parameter(const Halide::Expr &e);

}  // namespace halidegym
