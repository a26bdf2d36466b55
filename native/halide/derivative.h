#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <Halide.h>

#include "problem/rational.h"

namespace halidegym {

// Derivatives of the index expressions of one stage with respect to its loops (docs/specification/function-dag.md,
// section 8.5).
class Derivatives {
public:
    // d(e)/d(variable), with `lets` the let-bound names in force. Divisions count as exact: flooring is ignored.
    Rational of(const Halide::Expr &e, const std::string &variable, const Halide::Internal::Scope<Halide::Expr> &lets);

private:
    Rational of_let(const std::string &name, const std::string &variable,
                    const Halide::Internal::Scope<Halide::Expr> &lets);

    // By (loop, let name): let names come from a process-wide counter and never repeat.
    std::map<std::pair<std::string, std::string>, Rational> let_derivatives;
};

}  // namespace halidegym
