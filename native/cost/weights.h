#pragma once

#include <array>
#include <string>
#include <string_view>

#include "cost/schedule_feature.h"

namespace halidegym {

// Shape of the cost model of Adams et al. 2019 (docs/specification/search-and-cost-model.md, section 3.2).
inline constexpr int num_operations = 40;   // rows of the algorithm features
inline constexpr int num_scalar_types = 7;  // columns of the algorithm features
inline constexpr int head1_channels = 8;
inline constexpr int head2_channels = 24;
inline constexpr int num_coefficients = 32;

// The six tensors of the cost model, dense, in the order of the file. `c` is the output channel.
struct Weights {
    std::array<float, head1_channels * num_operations * num_scalar_types> head1_filter{};  // [c + 8 * (op + 40 * type)]
    std::array<float, head1_channels> head1_bias{};                                        // [c]
    std::array<float, head2_channels * num_schedule_features> head2_filter{};              // [c + 24 * feature]
    std::array<float, head2_channels> head2_bias{};                                        // [c]
    std::array<float, num_coefficients * num_coefficients> conv1_filter{};  // [c + 32 * r], r: head 1, then head 2
    std::array<float, num_coefficients> conv1_bias{};                       // [c]

    friend bool operator==(const Weights &, const Weights &) = default;
};

// Reads the bytes of a .weights file (docs/specification/search-and-cost-model.md, section 4.4); bytes after the last
// tensor are ignored, as the reference does. `origin` names the bytes in messages. Throws FormatError for any other
// signature, version or shape: unlike the reference, which goes on with weights of another version and replaces
// unreadable ones by random numbers.
Weights parse_weights(std::string_view bytes, const std::string &origin);

// The bytes of a .weights file; the inverse of parse_weights.
std::string serialize_weights(const Weights &weights);

}  // namespace halidegym
