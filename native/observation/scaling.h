#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

// Fixed scales, without statistics of any pipelines: a number means the same in every problem.

namespace halidegym {

// Of what is scaled by its logarithm, which stays below it up to 2^63.
inline constexpr double max_scaled = 64;

// Features span twenty orders of magnitude; the cost model takes their logarithm too.
inline float scaled(double feature) {
    return static_cast<float>(std::min(std::log1p(std::max(0.0, feature)), max_scaled));
}

// Counts, extents and sizes as powers of two. 0: none, 1: a single one.
inline float scaled_count(double count) {
    return static_cast<float>(std::min(std::log2(1.0 + std::max(0.0, count)), max_scaled));
}

// Trip counts on the same scale. 0: no such loop, 1: a single iteration. Most are small, so these are a table.
class ScaledTrips {
public:
    ScaledTrips() {
        for (size_t trips = 0; trips < table_.size(); trips++) {
            table_[trips] = scaled_count(static_cast<double>(trips));
        }
    }
    float operator()(int64_t trips) const {
        const auto index = static_cast<size_t>(std::max<int64_t>(0, trips));
        return index < table_.size() ? table_[index] : scaled_count(static_cast<double>(trips));
    }

private:
    std::array<float, 2048> table_;
};

inline const ScaledTrips scaled_trips;

// log2(a / b) up to the bounds, of numbers that are not negative; 0 where there is nothing of either.
inline float log2_ratio(double a, double b) {
    return a > 0 && b > 0 ? static_cast<float>(std::clamp(std::log2(a / b), -max_scaled, max_scaled)) : 0.0f;
}

// Of costs, which say more by their ratio.
inline constexpr double max_log_ratio = 20;

// log(a / b) up to the bounds; 0 of equal ones, and what is not above 0 counts as 0.
inline float log_ratio(double a, double b) {
    if (a == b) {
        return 0;
    }
    const double ratio = std::log(std::max(a, 0.0)) - std::log(std::max(b, 0.0));
    return static_cast<float>(std::clamp(ratio, -max_log_ratio, max_log_ratio));
}

}  // namespace halidegym
