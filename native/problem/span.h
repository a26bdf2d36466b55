#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace halidegym {

// An inclusive integer interval, and whether its extent is believed to be a compile-time constant
// (docs/specification/function-dag.md, section 6.1).
struct Span {
    int64_t min;
    int64_t max;
    bool constant_extent;

    // The neutral element of unite().
    static constexpr Span empty() {
        return {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(), true};
    }

    constexpr int64_t extent() const { return max - min + 1; }

    friend constexpr Span unite(const Span &a, const Span &b) {
        return {std::min(a.min, b.min), std::max(a.max, b.max), a.constant_extent && b.constant_extent};
    }

    friend constexpr bool operator==(const Span &, const Span &) = default;
};

// Rounded-up quotient of positive integers.
constexpr int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

}  // namespace halidegym
