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

// Rows of a buffer along dimension 0, in the order of coordinates. A buffer without dimensions is a row of one element.
class Rows {
public:
    explicit Rows(std::span<const halide_dimension_t> dimensions)
        : dimensions_(dimensions), at_(dimensions.size(), 0), length_(dimensions.empty() ? 1 : dimensions[0].extent),
          rows_(length_ == 0 ? 0 : num_elements(dimensions) / length_) {}

    // All of them in so many parts, of which some may be empty.
    static std::vector<Rows> parts(std::span<const halide_dimension_t> dimensions, int count) {
        std::vector<Rows> result(static_cast<size_t>(count), Rows(dimensions));
        const int64_t rows = result[0].rows_;
        for (int64_t i = 0; i < count; i++) {
            Rows &part = result[static_cast<size_t>(i)];
            part.skip(rows * i / count);
            part.rows_ = rows * (i + 1) / count - rows * i / count;
        }
        return result;
    }

    // Calls visit(indices, offset in elements, length, stride) for each. Indices count from 0; the first is 0
    // throughout. To be called once; allocates nothing.
    template <typename Visit>
    void visit(Visit visit) {
        const int32_t stride = dimensions_.empty() ? 1 : dimensions_[0].stride;
        for (; rows_ > 0; rows_--) {
            visit(at_, offset_, length_, stride);
            for (size_t d = 1; d < dimensions_.size(); d++) {
                offset_ += dimensions_[d].stride;
                if (++at_[d] < dimensions_[d].extent) {
                    break;
                }
                offset_ -= int64_t{dimensions_[d].stride} * dimensions_[d].extent;
                at_[d] = 0;
            }
        }
    }

private:
    void skip(int64_t rows) {
        for (size_t d = 1; d < dimensions_.size() && rows > 0; d++) {
            at_[d] = static_cast<int32_t>(rows % dimensions_[d].extent);
            offset_ += int64_t{at_[d]} * dimensions_[d].stride;
            rows /= dimensions_[d].extent;
        }
    }

    std::span<const halide_dimension_t> dimensions_;
    std::vector<int32_t> at_;
    int32_t length_;
    int64_t rows_;
    int64_t offset_ = 0;
};

}  // namespace halidegym
