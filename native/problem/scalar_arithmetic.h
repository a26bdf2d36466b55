#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "problem/expression.h"

// Arithmetic of scalar values as Halide's simplifier folds it (docs/specification/function-dag.md, section 6.2).
// Checked against the library by tests/native/test_expression.py.
namespace halidegym::scalar {

using Kind = ScalarType::Kind;

// Integers are sign- or zero-extended to 64 bits; floats are kept as doubles, rounded to their type.
struct Value {
    int64_t bits;
    bool known;
};

constexpr Value undetermined{0, false};

inline double as_double(Value value) {
    return std::bit_cast<double>(value.bits);
}

inline Value from_double(ScalarType type, double value) {
    return {std::bit_cast<int64_t>(type.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value), true};
}

inline Value from_bool(bool value) {
    return {value ? 1 : 0, true};
}

inline Value logical_not(Value a) {
    return {a.bits == 0, a.known};
}

inline int64_t wrap(ScalarType type, int64_t value) {
    const int unused = 64 - type.bits;
    const auto shifted = static_cast<uint64_t>(value) << unused;
    return type.kind == Kind::Int ? static_cast<int64_t>(shifted) >> unused : static_cast<int64_t>(shifted >> unused);
}

// The outcome of integer arithmetic, modulo 2^64: narrow and unsigned types wrap, wide signed ones must not.
inline Value from_arithmetic(ScalarType type, int64_t result, bool overflow) {
    const int64_t wrapped = wrap(type, result);
    const bool checked = type.kind == Kind::Int && type.bits >= 32;
    return {wrapped, !(checked && (overflow || wrapped != result))};
}

inline Value add(ScalarType type, Value a, Value b) {
    if (type.is_float()) {
        return from_double(type, as_double(a) + as_double(b));
    }
    int64_t result = 0;
    const bool overflow = __builtin_add_overflow(a.bits, b.bits, &result);
    return from_arithmetic(type, result, overflow);
}

inline Value subtract(ScalarType type, Value a, Value b) {
    if (type.is_float()) {
        return from_double(type, as_double(a) - as_double(b));
    }
    int64_t result = 0;
    const bool overflow = __builtin_sub_overflow(a.bits, b.bits, &result);
    return from_arithmetic(type, result, overflow);
}

inline Value multiply(ScalarType type, Value a, Value b) {
    if (type.is_float()) {
        // The simplifier's rule x * 0 = 0 holds even for infinite and undefined x.
        const bool zero = as_double(a) == 0 || as_double(b) == 0;
        return from_double(type, zero ? 0 : as_double(a) * as_double(b));
    }
    int64_t result = 0;
    const bool overflow = __builtin_mul_overflow(a.bits, b.bits, &result);
    return from_arithmetic(type, result, overflow);
}

// Euclidean quotient: the remainder is never negative. Division by zero is zero.
inline int64_t euclidean_quotient(int64_t a, int64_t b) {
    if (b == 0) {
        return 0;
    }
    if (b == -1) {
        return static_cast<int64_t>(-static_cast<uint64_t>(a));
    }
    const int64_t quotient = a / b;
    return a % b >= 0 ? quotient : quotient - (b > 0 ? 1 : -1);
}

inline int64_t euclidean_remainder(int64_t a, int64_t b) {
    if (b == 0 || b == -1) {
        return 0;
    }
    const int64_t remainder = a % b;
    if (remainder >= 0) {
        return remainder;
    }
    return b > 0 ? remainder + b : remainder - b;
}

inline Value divide(ScalarType type, Value a, Value b) {
    switch (type.kind) {
    case Kind::Float:
        return from_double(type, as_double(a) == 0 ? 0 : as_double(a) / as_double(b));
    case Kind::UInt:
        return {b.bits == 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a.bits) / static_cast<uint64_t>(b.bits)),
                true};
    default:
        // Only min / -1 leaves the type.
        return from_arithmetic(type, euclidean_quotient(a.bits, b.bits), false);
    }
}

inline Value modulo(ScalarType type, Value a, Value b) {
    switch (type.kind) {
    case Kind::Float:
        return from_double(type, as_double(a) - as_double(b) * std::floor(as_double(a) / as_double(b)));
    case Kind::UInt:
        return {b.bits == 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a.bits) % static_cast<uint64_t>(b.bits)),
                true};
    default:
        return {euclidean_remainder(a.bits, b.bits), true};
    }
}

inline bool less(ScalarType type, Value a, Value b) {
    switch (type.kind) {
    case Kind::Float:
        return as_double(a) < as_double(b);
    case Kind::UInt:
        return static_cast<uint64_t>(a.bits) < static_cast<uint64_t>(b.bits);
    default:
        return a.bits < b.bits;
    }
}

// The simplifier compares the difference with zero: an overflow leaves the comparison open, and an infinity does not
// equal itself.
inline Value equal(ScalarType type, Value a, Value b) {
    if (type.is_float()) {
        return from_bool(as_double(a) - as_double(b) == 0);
    }
    return {a.bits == b.bits, subtract(type, a, b).known};
}

// float → integer goes through 64 bits, saturating there, and then wraps.
inline Value cast(ScalarType type, ScalarType from, Value a) {
    if (!from.is_float()) {
        if (!type.is_float()) {
            return {wrap(type, a.bits), true};
        }
        return from_double(type, from.kind == Kind::Int ? static_cast<double>(a.bits)
                                                        : static_cast<double>(static_cast<uint64_t>(a.bits)));
    }
    const double value = as_double(a);
    if (type.is_float()) {
        return from_double(type, value);
    }
    if (!std::isfinite(value)) {
        return undetermined;
    }
    // The library lets 2^63, or 2^64, slip through its range check; the results are those of an x86 conversion.
    constexpr double two_to_63 = 9223372036854775808.0;
    const bool is_signed = type.kind == Kind::Int;
    const double limit = is_signed ? two_to_63 : 2 * two_to_63;
    const int64_t highest = is_signed ? std::numeric_limits<int64_t>::max() : -1;
    const int64_t lowest = is_signed ? std::numeric_limits<int64_t>::min() : 0;
    int64_t integer = lowest;
    if (value > limit) {
        integer = highest;
    } else if (value < limit && value > static_cast<double>(lowest)) {
        integer = is_signed ? static_cast<int64_t>(value) : static_cast<int64_t>(static_cast<uint64_t>(value));
    }
    return {wrap(type, integer), true};
}

inline Value saturating_cast(ScalarType type, ScalarType from, Value a) {
    if (type.is_float()) {
        return cast(type, from, a);
    }
    const int64_t low = type.kind == Kind::UInt ? 0 : std::numeric_limits<int64_t>::min() >> (64 - type.bits);
    const int64_t high = type.kind == Kind::UInt ? static_cast<int64_t>(~uint64_t{0} >> (64 - type.bits)) : ~low;
    if (from.is_float()) {
        const double value = as_double(a);
        const double top = as_double(cast({Kind::Float, 64}, type, {high, true}));
        if (std::isnan(value)) {
            return undetermined;
        }
        if (value >= top) {
            return {high, true};
        }
        return value <= static_cast<double>(low) ? Value{low, true} : cast(type, from, a);
    }
    if (from.kind == Kind::Int) {
        // Nonnegative values compare alike as unsigned ones, and `high` may be 2^64 - 1.
        if (a.bits < low) {
            return {low, true};
        }
        return {a.bits > 0 && static_cast<uint64_t>(a.bits) > static_cast<uint64_t>(high) ? high : a.bits, true};
    }
    return {static_cast<uint64_t>(a.bits) > static_cast<uint64_t>(high) ? high : a.bits, true};
}

// A negative distance shifts the other way.
inline Value shift(ScalarType type, ScalarType distance_type, Value a, Value b, bool left) {
    auto distance = static_cast<uint64_t>(b.bits);
    if (distance_type.kind == Kind::Int && b.bits < 0) {
        distance = -distance;
        left = !left;
    }
    if (distance >= type.bits) {
        return undetermined;
    }
    if (!left) {
        return {type.kind == Kind::Int ? a.bits >> distance
                                       : static_cast<int64_t>(static_cast<uint64_t>(a.bits) >> distance),
                true};
    }
    // The simplifier multiplies by the power of two, which may overflow, unless that is the sign bit.
    if (distance + 1u == type.bits) {
        return {wrap(type, static_cast<int64_t>(static_cast<uint64_t>(a.bits) << distance)), true};
    }
    return multiply(type, a, {int64_t{1} << distance, true});
}

inline uint64_t magnitude(int64_t value) {
    return value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

inline uint64_t zero_extended(ScalarType type, Value a) {
    return static_cast<uint64_t>(a.bits) & (~uint64_t{0} >> (64 - type.bits));
}

inline double math(Opcode opcode, double x) {
    switch (opcode) {
    case Opcode::Round:
        return std::nearbyint(x);
    case Opcode::Floor:
        return std::floor(x);
    case Opcode::Ceil:
        return std::ceil(x);
    case Opcode::Trunc:
        return std::trunc(x);
    case Opcode::Sqrt:
        return std::sqrt(x);
    case Opcode::Exp:
        return std::exp(x);
    case Opcode::Log:
        return std::log(x);
    case Opcode::Sin:
        return std::sin(x);
    case Opcode::Cos:
        return std::cos(x);
    case Opcode::Tan:
        return std::tan(x);
    case Opcode::Asin:
        return std::asin(x);
    case Opcode::Acos:
        return std::acos(x);
    case Opcode::Atan:
        return std::atan(x);
    case Opcode::Sinh:
        return std::sinh(x);
    case Opcode::Cosh:
        return std::cosh(x);
    case Opcode::Tanh:
        return std::tanh(x);
    case Opcode::Asinh:
        return std::asinh(x);
    case Opcode::Acosh:
        return std::acosh(x);
    default:
        return std::atanh(x);
    }
}

}  // namespace halidegym::scalar
