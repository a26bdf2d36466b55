#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "transform/access_modes.h"

namespace halidegym {

// What one step of a transform has to compute: v columns of n complex numbers; column c gets, for k < n,
//
//     y[c*ov + k*os] = sum over j of  w^(jk) * x[c*iv + j*is] * (scaled ? W[c*wv + j*ws] : 1),   w = exp(-2 pi i / n)
//
// Strides count complex numbers. Values that mean nothing are 0: strides of the only column, those of no twiddles.
struct TransformProblem {
    int n = 2;
    int is = 1, os = 1;
    int v = 1;
    int iv = 0, ov = 0;
    bool scaled = false;
    int ws = 0, wv = 0;
    bool in_place = false;    // x is y, with equal strides
    bool below_loop = false;  // several columns of one run of a loop

    friend bool operator==(const TransformProblem &, const TransformProblem &) = default;
};

inline constexpr int max_transform_size = 65536;
inline constexpr std::array codelet_sizes{2, 3, 4, 5, 7, 8, 16, 32, 64};
inline constexpr std::array codelet_lanes{1, 2, 4};  // complex doubles in a vector register

constexpr bool is_codelet_size(int n) {
    return std::find(codelet_sizes.begin(), codelet_sizes.end(), n) != codelet_sizes.end();
}

// The transform of a whole contiguous array. Throws InvalidParameter for a size that the library lacks.
TransformProblem whole_transform(int n);

// One line, for messages.
std::string to_string(const TransformProblem &problem);

// How a codelet with `lanes` columns in a register reaches them. A single column is contiguous in itself.
AccessModes access_modes(const TransformProblem &problem, int lanes);

}  // namespace halidegym
