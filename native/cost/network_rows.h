#pragma once

#include <array>
#include <cstddef>

#include "cost/schedule_feature.h"
#include "cost/weights.h"

// What the network computes with, and its inner loops for several instruction sets. Sections and quirks are those of
// docs/specification/search-and-cost-model.md.
//
// Files compiled for an instruction set of their own include this one, so it has data alone: an inline function that
// such a file emits could replace everybody's.

namespace halidegym {

// The features of a row that follow from its own surroundings. The last ones, the working sets, follow from the whole
// nest; the first layer sums in the order of features, so that its sum over the others can be kept bit for bit.
inline constexpr int num_local_features = 35;
inline constexpr int num_working_sets = 4;
static_assert(feature::working_set_at_task == num_local_features &&
              feature::working_set_at_production == num_local_features + 1 &&
              feature::working_set_at_realization == num_local_features + 2 &&
              feature::working_set_at_root == num_local_features + 3 &&
              num_local_features + num_working_sets == num_schedule_features);

// The second layer before it has seen any schedule feature: its bias and the terms of head 1 (section 3.3, steps 2 and
// 4).
using AlgorithmPart = std::array<float, num_coefficients>;

inline constexpr int padded_channels = 32;  // of head 2; a multiple of the widest vector, as is the size of each array

using FeatureValues = std::array<double, num_schedule_features>;

// All that a rating needs to know of the local features of a row.
struct KeptRow {
    // What the cost formula takes besides the coefficients and their factors.
    enum Term : size_t {
        num_realizations,
        num_productions,
        num_scalars,
        num_vectors,
        num_tasks,
        inner_tasks,
        row_bytes,
        bytes_at_production,
        inlined_calls,
        num_terms = 16,
    };

    alignas(64) std::array<float, padded_channels> first_layer;  // bias and local features, summed
    std::array<float, num_coefficients> factors;                 // of each coefficient in the cost formula
    std::array<float, num_terms> terms;
};

struct RatedRow {
    const KeptRow *row;
    const AlgorithmPart *algorithm;                    // of the row's stage
    bool is_first;                                     // in the model's order (quirk C4)
    std::array<float, num_working_sets> working_sets;  // features 35 to 38
};

// The layers that see schedule features.
struct NetworkLayers {
    alignas(64) std::array<float, padded_channels> head2_bias{};
    std::array<float, padded_channels * num_schedule_features> head2_filter{};  // [c + 32 * feature]
    std::array<float, num_coefficients * head2_channels> conv1_filter{};        // [c + 32 * r]
};

// The inner loops. They give the same bits for each instruction set, batch, and position in the batch.
struct NetworkKernel {
    // Only the local features of the `count` rows are read.
    void (*keep)(const NetworkLayers &layers, const FeatureValues *const *rows, KeptRow *const *kept, size_t count);
    void (*rate)(const NetworkLayers &layers, const RatedRow *rows, size_t count, float cores, float *costs);
};

extern const NetworkKernel baseline_network_kernel;
#ifdef __x86_64__
extern const NetworkKernel avx2_network_kernel;
extern const NetworkKernel avx512_network_kernel;  // F, VL and DQ
#endif

}  // namespace halidegym
