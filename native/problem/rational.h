#pragma once

#include <cstdint>

namespace halidegym {

// One entry of a load Jacobian: a rational that may be unknown (docs/specification/function-dag.md, section 8.5, quirk
// Q12). A value that is not known keeps the numerator and denominator it had, because equality compares them.
// Denominators may be negative.
struct Rational {
    bool known = true;
    int64_t numerator = 0;
    int64_t denominator = 1;

    static constexpr Rational zero() { return {true, 0, 1}; }
    static constexpr Rational one() { return {true, 1, 1}; }
    static constexpr Rational unknown() { return {false, 0, 0}; }

    constexpr bool is(int64_t k) const { return known && numerator == k * denominator; }

    // Equality by cross-multiplication, also of values that are not known.
    friend constexpr bool operator==(const Rational &a, const Rational &b) {
        return a.known == b.known && a.numerator * b.denominator == b.numerator * a.denominator;
    }
};

// Sum, unreduced where the denominators agree.
Rational operator+(const Rational &a, const Rational &b);

// Product, unreduced; a known zero absorbs.
Rational operator*(const Rational &a, const Rational &b);

// As Halide's gcd: Euclid with the C++ remainder, started with the larger operand; the result can be negative.
int64_t signed_gcd(int64_t a, int64_t b);
int64_t signed_lcm(int64_t a, int64_t b);

}  // namespace halidegym
