#pragma once

#include <cstddef>
#include <cstdint>

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

    // Some inputs of a product.
    struct Inputs {
        static constexpr size_t most = 64;

        size_t begin;
        size_t size;
        uint8_t places[most];  // after the first one; in their order
    };

    // All but those that are 0 in all of the rows: descriptions of decisions and outputs of rectified layers have many.
    // What they would add to a sum leaves it as it is.
    template <int rows>
    static Inputs inputs_but_zeros(const PolicyProduct &product, size_t first_row, size_t begin) {
        const size_t left = product.num_inputs - begin;
        const size_t count = left < Inputs::most ? left : Inputs::most;
        uint32_t bits[Inputs::most] = {};  // of any row
        for (int r = 0; r < rows; r++) {
            const float *from = product.inputs + (first_row + r) * product.inputs_stride + begin;
            for (size_t i = 0; i < count; i++) {
                bits[i] |= __builtin_bit_cast(uint32_t, from[i]);
            }
        }
        Inputs inputs{begin, 0, {}};
        for (size_t i = 0; i < count; i++) {
            inputs.places[inputs.size] = static_cast<uint8_t>(i);
            inputs.size += bits[i] != 0 ? 1 : 0;
        }
        return inputs;
    }

    template <int rows>
    static void add_to_tile(const PolicyProduct &product, const Inputs &added, size_t first_row, size_t column,
                            bool rectify) {
        const float *inputs = product.inputs + first_row * product.inputs_stride + added.begin;
        const float *weights = product.weights + added.begin * product.width + column;
        float *outputs = product.outputs + first_row * product.width + column;
        Vector sums[rows][tile];
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < tile; v++) {
                sums[r][v] = load(outputs + r * product.width + lanes * v);
            }
        }
        for (size_t k = 0; k < added.size; k++) {
            const size_t i = added.places[k];
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
                store(outputs + r * product.width + lanes * v, rectify ? (sum < zero ? zero : sum) : sum);
            }
        }
    }

    template <int rows = interleaved>
    static void add_rows(const PolicyProduct &product, size_t first) {
        for (; product.rows - first >= rows; first += rows) {
            for (size_t begin = 0; begin < product.num_inputs; begin += Inputs::most) {
                const Inputs added = inputs_but_zeros<rows>(product, first, begin);
                const bool is_last = product.num_inputs - begin <= Inputs::most;
                for (size_t column = 0; column < product.width; column += policy_lanes) {
                    add_to_tile<rows>(product, added, first, column, product.rectify && is_last);
                }
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
