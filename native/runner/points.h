#pragma once

#include <HalideRuntime.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace halidegym {

inline int64_t num_elements(std::span<const halide_dimension_t> dimensions) {
    return std::accumulate(dimensions.begin(), dimensions.end(), int64_t{1},
                           [](int64_t product, const halide_dimension_t &d) { return product * d.extent; });
}

// Calls visit(indices, offset in elements, count, stride) for every row along dimension 0, in the order of coordinates.
// Indices count from 0; the first is 0 throughout. A buffer without dimensions is a row of one element.
template <typename Visit>
void for_each_row(std::span<const halide_dimension_t> dimensions, Visit visit) {
    std::vector<int32_t> at(dimensions.size(), 0);
    const int32_t count = dimensions.empty() ? 1 : dimensions[0].extent;
    const int32_t stride = dimensions.empty() ? 1 : dimensions[0].stride;
    int64_t offset = 0;
    for (int64_t rows = count == 0 ? 0 : num_elements(dimensions) / count; rows > 0; rows--) {
        visit(at, offset, count, stride);
        for (size_t d = 1; d < dimensions.size(); d++) {
            offset += dimensions[d].stride;
            if (++at[d] < dimensions[d].extent) {
                break;
            }
            offset -= int64_t{dimensions[d].stride} * dimensions[d].extent;
            at[d] = 0;
        }
    }
}

}  // namespace halidegym
