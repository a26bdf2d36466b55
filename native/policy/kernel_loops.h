#pragma once

#include <cstddef>

#include "policy/kernel.h"

// The inner loops, to be compiled once for each instruction set: each file that includes this one gets loops of its
// own, which call no inline function of anybody else. Such files must be compiled with contraction to fused
// multiply-add off.

namespace halidegym {

namespace {

// With so many floats in a vector. Sums cannot be split without other rounding, so some rows take turns to hide how
// long an addition takes.
template <int lanes>
struct PolicyLoops {
    using Vector [[gnu::vector_size(sizeof(float) * lanes)]] = float;
    static constexpr int tile = static_cast<int>(policy_lanes) / lanes;  // vectors of a row at once
    static constexpr int interleaved = lanes / 2;                        // rows at once, so that there are eight sums

    static Vector load(const float *from) {
        Vector vector;
        __builtin_memcpy(&vector, from, sizeof(Vector));
        return vector;
    }
    static void store(float *to, Vector vector) { __builtin_memcpy(to, &vector, sizeof(Vector)); }

    template <int rows>
    static void add_to_tile(const PolicyProduct &product, size_t first_row, size_t column) {
        const float *inputs = product.inputs + first_row * product.inputs_stride;
        const float *weights = product.weights + column;
        float *outputs = product.outputs + first_row * product.width + column;
        Vector sums[rows][tile];
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < tile; v++) {
                sums[r][v] = load(outputs + r * product.width + lanes * v);
            }
        }
        for (size_t i = 0; i < product.num_inputs; i++) {
            for (int v = 0; v < tile; v++) {
                const Vector weight = load(weights + i * product.width + lanes * v);
                for (int r = 0; r < rows; r++) {
                    sums[r][v] += weight * inputs[r * product.inputs_stride + i];
                }
            }
        }
        const Vector zero = {};
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < tile; v++) {
                const Vector sum = sums[r][v];
                store(outputs + r * product.width + lanes * v, product.rectify ? (sum < zero ? zero : sum) : sum);
            }
        }
    }

    template <int rows = interleaved>
    static void add_rows(const PolicyProduct &product, size_t first) {
        for (; product.rows - first >= rows; first += rows) {
            for (size_t column = 0; column < product.width; column += policy_lanes) {
                add_to_tile<rows>(product, first, column);
            }
        }
        if constexpr (rows > 1) {
            add_rows<rows / 2>(product, first);
        }
    }

    static void add_product(const PolicyProduct &product) { add_rows(product, 0); }

    static void add_dots(const float *inputs, const float *weights, size_t width, float *outputs, size_t rows) {
        for (size_t r = 0; r < rows; r++, inputs += width) {
            Vector sums[tile] = {};
            for (size_t i = 0; i < width; i += policy_lanes) {
                for (int v = 0; v < tile; v++) {
                    sums[v] += load(inputs + i + lanes * v) * load(weights + i + lanes * v);
                }
            }
            float parts[policy_lanes];
            __builtin_memcpy(parts, sums, sizeof(parts));
            float sum = outputs[r];
            for (const float part : parts) {
                sum += part;
            }
            outputs[r] = sum;
        }
    }

    static constexpr PolicyKernel kernel = {add_product, add_dots};
};

}  // namespace

}  // namespace halidegym
