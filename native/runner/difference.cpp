#include "runner/difference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace halidegym {
namespace {

// Of outputs: what sums of numbers around 1 leave of each other is below a thousandth of it.
constexpr double least_scale = 1e-4;

// Between neighbours, relative to them: what rounds to one of them in one schedule may round to the other in the next.
constexpr double bfloat_step = 0x1p-7;

// Elements that are compared together. Most are equal byte by byte, and their values are of no interest.
constexpr size_t block = 4096;

template <typename T>
T load(const uint8_t *from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <typename T>
double number(const uint8_t *from) {
    return static_cast<double>(load<T>(from));
}

double half_to_double(uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const int mantissa = bits & 1023;
    const double magnitude = exponent == 0   ? std::ldexp(mantissa, -24)
                             : exponent < 31 ? std::ldexp(mantissa + 1024, exponent - 25)
                             : mantissa == 0 ? INFINITY
                                             : NAN;
    return bits >> 15 ? -magnitude : magnitude;
}

bool is_float(halide_type_t type) {
    return type.code == halide_type_float || type.code == halide_type_bfloat;
}

bool is_float32(halide_type_t type) {
    return type.code == halide_type_float && type.bits == 32;
}

// Magnitudes of floats are in the order of their bits, which vectors of integers compare.
double largest_float32(std::span<const uint8_t> data) {
    constexpr int32_t infinite = 0x7f800000;
    int32_t most = 0;
    for (size_t at = 0; at < data.size(); at += sizeof(int32_t)) {
        const int32_t magnitude = load<int32_t>(&data[at]) & 0x7fffffff;
        most = std::max(most, magnitude < infinite ? magnitude : 0);
    }
    return std::bit_cast<float>(most);
}

// The largest magnitude, of numbers that are finite.
double largest(halide_type_t type, std::span<const uint8_t> data) {
    if (is_float32(type)) {
        return largest_float32(data);
    }
    double most = 0;
    for (size_t at = 0; at < data.size(); at += static_cast<size_t>(type.bytes())) {
        const double magnitude = std::abs(as_double(type, &data[at]));
        most = std::isfinite(magnitude) ? std::max(most, magnitude) : most;
    }
    return most;
}

// The tolerance for outputs of this type and size.
Tolerance fitted(halide_type_t type, std::span<const uint8_t> expected, Tolerance tolerance) {
    if (is_float(type)) {
        tolerance.absolute *= std::clamp(largest(type, expected), least_scale, 1.0);
    }
    if (type.code == halide_type_bfloat) {
        tolerance.relative = std::max(tolerance.relative, bfloat_step);
    }
    return tolerance;
}

bool equal(halide_type_t type, const uint8_t *actual, const uint8_t *expected, const Tolerance &tolerance) {
    if (std::memcmp(actual, expected, static_cast<size_t>(type.bytes())) == 0) {
        return true;
    }
    const double a = as_double(type, actual);
    const double e = as_double(type, expected);
    if (!is_float(type)) {
        return a != e && std::abs(a - e) <= tolerance.integer;  // equal as doubles, they are huge and different
    }
    if (!std::isfinite(a) || !std::isfinite(e)) {
        return a == e || (std::isnan(a) && std::isnan(e));
    }
    return std::abs(a - e) <= tolerance.absolute + tolerance.relative * std::abs(e);
}

// Whether all are finite and near, without a branch for each. Of the others, `equal` knows which are right.
bool are_near(std::span<const uint8_t> actual, std::span<const uint8_t> expected, const Tolerance &tolerance) {
    uint64_t others = 0;
    for (size_t at = 0; at < actual.size(); at += sizeof(float)) {
        const double a = load<float>(&actual[at]);
        const double e = load<float>(&expected[at]);
        const double limit = tolerance.absolute + tolerance.relative * std::abs(e);
        others += !(std::abs(a - e) <= limit);
        others += !(limit <= std::numeric_limits<double>::max());
    }
    return others == 0;
}

}  // namespace

double as_double(halide_type_t type, const uint8_t *from) {
    if (type.code == halide_type_bfloat) {
        return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(from)) << 16);
    }
    if (type.code == halide_type_float) {
        return type.bits == 64   ? load<double>(from)
               : type.bits == 32 ? load<float>(from)
                                 : half_to_double(load<uint16_t>(from));
    }
    const bool is_signed = type.code == halide_type_int;
    switch (type.bytes()) {
    case 1:
        return is_signed ? number<int8_t>(from) : number<uint8_t>(from);
    case 2:
        return is_signed ? number<int16_t>(from) : number<uint16_t>(from);
    case 4:
        return is_signed ? number<int32_t>(from) : number<uint32_t>(from);
    default:
        return is_signed ? number<int64_t>(from) : number<uint64_t>(from);
    }
}

Difference difference(halide_type_t type, std::span<const uint8_t> actual, std::span<const uint8_t> expected,
                      const Tolerance &tolerance) {
    if (std::equal(actual.begin(), actual.end(), expected.begin())) {
        return {};
    }
    const auto bytes = static_cast<size_t>(type.bytes());
    const Tolerance allowed = fitted(type, expected, tolerance);
    Difference found;
    for (size_t begin = 0; begin < actual.size(); begin += block * bytes) {
        const size_t size = std::min(block * bytes, actual.size() - begin);
        const auto ours = actual.subspan(begin, size);
        const auto theirs = expected.subspan(begin, size);
        if (std::equal(ours.begin(), ours.end(), theirs.begin()) ||
            (is_float32(type) && are_near(ours, theirs, allowed))) {
            continue;
        }
        for (size_t at = 0; at < size; at += bytes) {
            if (!equal(type, &ours[at], &theirs[at], allowed) && found.count++ == 0) {
                found.first = (begin + at) / bytes;
            }
        }
    }
    return found;
}

}  // namespace halidegym
