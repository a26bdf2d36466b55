#include "halide/derivative.h"

#include "problem/error.h"

namespace halidegym {

using namespace Halide::Internal;
using Halide::Expr;

namespace {

int64_t wrapping_multiply(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace

Rational Derivatives::of(const Expr &e, const std::string &variable, const Scope<Expr> &lets) {
    if (!expr_uses_var(e, variable, lets)) {
        return Rational::zero();
    }
    if (const Variable *v = e.as<Variable>()) {
        return v->name == variable ? Rational::one() : of_let(v->name, variable, lets);
    }
    if (const Add *op = e.as<Add>()) {
        return of(op->a, variable, lets) + of(op->b, variable, lets);
    }
    if (const Sub *op = e.as<Sub>()) {
        const Rational a = of(op->a, variable, lets);
        Rational b = of(op->b, variable, lets);
        b.numerator = wrapping_multiply(b.numerator, -1);
        return a + b;
    }
    if (const Mul *op = e.as<Mul>()) {
        if (const auto factor = as_const_int(op->b)) {
            Rational a = of(op->a, variable, lets);
            a.numerator = wrapping_multiply(a.numerator, *factor);
            return a;
        }
        return Rational::unknown();
    }
    if (const Div *op = e.as<Div>()) {
        if (const auto divisor = as_const_int(op->b)) {
            Rational a = of(op->a, variable, lets);
            if (a.numerator != 0) {
                a.denominator = wrapping_multiply(a.denominator, *divisor);
            }
            return a;
        }
        return Rational::unknown();
    }
    if (const Call *op = Call::as_intrinsic(e, {Call::likely})) {
        return of(op->args[0], variable, lets);
    }
    return Rational::unknown();
}

Rational Derivatives::of_let(const std::string &name, const std::string &variable, const Scope<Expr> &lets) {
    const auto key = std::make_pair(variable, name);
    if (const auto known = let_derivatives.find(key); known != let_derivatives.end()) {
        return known->second;
    }
    const Expr *value = lets.find(name);
    if (!value) {
        throw InternalError("The variable '" + name + "' of an index expression is neither a loop nor a let.");
    }
    const Rational derivative = of(*value, variable, lets);
    let_derivatives.emplace(key, derivative);
    return derivative;
}

}  // namespace halidegym
