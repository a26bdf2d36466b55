#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <Halide.h>

#include "problem/expression.h"

namespace halidegym {

// Compiles an integer expression over Int(32) variables with the given names; symbol i of the result is the variable
// named symbols[i]. Whatever the bytecode cannot say exactly (a variable that is no symbol, vectors, 16-bit floats, a
// `likely` that the simplifier keeps, lerp ...) becomes an expression that asks the library each time and is not
// portable.
Expression compile_expression(const Halide::Expr &e, std::span<const std::string> symbols);

// What compile_expression() has to agree with: the value that the library's substitute() and simplify() arrive at, each
// symbol's value first truncated to 32 bits. Throws InternalError if that is no integer constant.
int64_t simplify_to_integer(const Halide::Expr &e, std::span<const std::string> symbols,
                            std::span<const int64_t> values);

}  // namespace halidegym
