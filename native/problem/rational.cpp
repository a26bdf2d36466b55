#include "problem/rational.h"

#include <utility>

#include "problem/error.h"

namespace halidegym {

namespace {

// Loads with enormous coefficients wrap around, as they do in the reference; a signed overflow would be undefined.
int64_t wrapping_multiply(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t wrapping_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// INT64_MIN / -1 and INT64_MIN % -1 trap on most processors.
int64_t quotient(int64_t a, int64_t b) {
    return b == -1 ? wrapping_multiply(a, -1) : a / b;
}

int64_t remainder(int64_t a, int64_t b) {
    return b == -1 ? 0 : a % b;
}

}  // namespace

int64_t signed_gcd(int64_t a, int64_t b) {
    if (a < b) {
        std::swap(a, b);
    }
    while (b != 0) {
        a = std::exchange(b, remainder(a, b));
    }
    return a;
}

int64_t signed_lcm(int64_t a, int64_t b) {
    const int64_t divisor = signed_gcd(a, b);
    return divisor == 0 ? 0 : quotient(wrapping_multiply(a, b), divisor);
}

// An unknown sum keeps the numerator and denominator of the left operand
// (docs/specification/function-dag.md, section 8.5, quirk Q12).
Rational operator+(const Rational &a, const Rational &b) {
    if (!a.known || !b.known) {
        return {false, a.numerator, a.denominator};
    }
    if (a.denominator == b.denominator) {
        return {true, wrapping_add(a.numerator, b.numerator), a.denominator};
    }
    if (a.denominator == 0 || b.denominator == 0) {
        throw InternalError("The derivative of a load has the denominator zero: its divisors overflow 64 bits.");
    }
    const int64_t denominator = signed_lcm(a.denominator, b.denominator);
    const int64_t numerator = wrapping_add(wrapping_multiply(a.numerator, quotient(denominator, a.denominator)),
                                           wrapping_multiply(b.numerator, quotient(denominator, b.denominator)));
    const int64_t divisor = signed_gcd(numerator, denominator);
    return divisor == 0 ? Rational{true, numerator, denominator}
                        : Rational{true, quotient(numerator, divisor), quotient(denominator, divisor)};
}

Rational operator*(const Rational &a, const Rational &b) {
    if (a.is(0)) {
        return a;
    }
    if (b.is(0)) {
        return b;
    }
    return {a.known && b.known, wrapping_multiply(a.numerator, b.numerator),
            wrapping_multiply(a.denominator, b.denominator)};
}

}  // namespace halidegym
