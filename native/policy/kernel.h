#pragma once

#include <cstddef>

// The inner loops of a policy's network, for several instruction sets.
//
// Files compiled for an instruction set of their own include this one, so it has data alone: an inline function that
// such a file emits could replace everybody's.

namespace halidegym {

// Layers are so wide, or a multiple of it.
inline constexpr size_t policy_lanes = 16;

// outputs[r][c] += sum over i of inputs[r][i] * weights[i][c], for `rows` rows; and, if asked, no output is below 0.
struct PolicyProduct {
    const float *inputs;  // [rows * inputs_stride]
    size_t inputs_stride;
    size_t num_inputs;
    const float *weights;  // [num_inputs * width]
    float *outputs;        // [rows * width]
    size_t width;
    size_t rows;
    bool rectify;
};

// Every product and every sum rounds on its own and in one order, so results are the same bits for each instruction
// set, batch, and position in the batch.
struct PolicyKernel {
    void (*add_product)(const PolicyProduct &product);
    // outputs[r] += sum over i of inputs[r][i] * weights[i].
    void (*add_dots)(const float *inputs, const float *weights, size_t width, float *outputs, size_t rows);
};

extern const PolicyKernel baseline_policy_kernel;
#ifdef __x86_64__
extern const PolicyKernel avx2_policy_kernel;
extern const PolicyKernel avx512_policy_kernel;
#endif

}  // namespace halidegym
