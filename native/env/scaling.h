#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace halidegym {

// Features span twenty orders of magnitude; the cost model takes their logarithm too. Up to 2^63 it is below the bound
// that the observation space states.
inline float scaled(double feature) {
    return static_cast<float>(std::min(std::log1p(std::max(0.0, feature)), 64.0));
}

// Trip counts on a logarithmic scale. 0: no such loop, 1: a single iteration. Most are small, so these are a table.
class ScaledTrips {
public:
    ScaledTrips() {
        for (size_t trips = 0; trips < table_.size(); trips++) {
            table_[trips] = compute(static_cast<int64_t>(trips));
        }
    }
    float operator()(int64_t trips) const {
        const auto index = static_cast<size_t>(std::max<int64_t>(0, trips));
        return index < table_.size() ? table_[index] : compute(trips);
    }

private:
    static float compute(int64_t trips) { return static_cast<float>(std::log2(1.0 + static_cast<double>(trips))); }

    std::array<float, 2048> table_;
};

inline const ScaledTrips scaled_trips;

}  // namespace halidegym
