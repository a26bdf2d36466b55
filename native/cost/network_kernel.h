#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "cost/network_rows.h"

// The inner loops of the network, to be compiled once for each instruction set: each file that includes this one gets
// loops of its own, which call no inline function of anybody else. Sections and quirks are those of
// docs/specification/search-and-cost-model.md.
//
// Every product and every sum here rounds to float32 on its own, in the order of the compiled reference: files that
// include this one must be compiled with contraction to fused multiply-add off. The layers have channels in the lanes
// of vectors, and since their sums cannot be split, some rows take turns to hide how long an addition takes. The cost
// formula has rows in the lanes.

namespace halidegym {

namespace {

template <int lanes>
using Floats [[gnu::vector_size(sizeof(float) * lanes)]] = float;
template <int lanes>
using Ints [[gnu::vector_size(sizeof(int32_t) * lanes)]] = int32_t;

// The elements of a std::array without its member functions.
template <typename T, size_t size>
const T *elements(const std::array<T, size> &array) {
    return reinterpret_cast<const T *>(&array);
}
template <typename T, size_t size>
T *elements(std::array<T, size> &array) {
    return reinterpret_cast<T *>(&array);
}

// Inner loops with so many floats in a vector.
template <int lanes>
struct Kernel {
    using Vector = Floats<lanes>;
    static constexpr int group = 4;                // rows of a cost formula
    static constexpr int interleaved = lanes / 4;  // rows that take turns in a layer, so that it has eight sums at once
    static constexpr int head2_vectors = (head2_channels + lanes - 1) / lanes;
    static constexpr int coefficient_vectors = num_coefficients / lanes;
    using Row = Floats<group>;  // one quantity of each row of a group

    template <typename To = Vector>
    static To load(const float *from) {
        To vector;
        __builtin_memcpy(&vector, from, sizeof(To));
        return vector;
    }

    template <typename From>
    static void store(float *to, From vector) {
        __builtin_memcpy(to, &vector, sizeof(From));
    }

    // As std::max(a, b) for each lane, including zeros and what is no number.
    template <typename V>
    static V maximum(V a, V b) {
        return a < b ? b : a;
    }

    // The logarithm as the reference evaluates it, for x > 0 (section 3.3).
    static Vector fast_log(Vector x) {
        using Bits = Ints<lanes>;
        const Bits bits = reinterpret_cast<Bits>(x);
        const Bits mantissa = bits & static_cast<int32_t>(0x807fffff);
        const Bits above = mantissa >> 22;
        const Vector m = reinterpret_cast<Vector>(mantissa | ((127 - above) << 23));
        const Vector exponent = __builtin_convertvector((bits >> 23) - 127 + above, Vector);
        const Vector t = m - 1.0f;
        const Vector q = t * t;
        const Vector even = ((-0.162529618f * q - 0.251102597f) * q - 0.499975145f) * q;
        const Vector odd = (((0.0764031857f * q + 0.206252187f) * q + 0.333204657f) * q + 1.0f) * t;
        return (even + exponent * 0.693147182f) + odd;
    }

    // Adds the terms of inputs [begin, end) of each row to the sums of `rows` rows. The filter is [c + 32 * input], and
    // input i of row r is inputs[row_stride * r + i].
    template <int rows, int vectors>
    static void add_terms(Vector (&sums)[rows][vectors], const float *filter, const float *inputs, int row_stride,
                          int num_inputs) {
        for (int i = 0; i < num_inputs; i++) {
            for (int v = 0; v < vectors; v++) {
                const Vector weights = load(filter + padded_channels * i + lanes * v);
                for (int r = 0; r < rows; r++) {
                    sums[r][v] += weights * inputs[row_stride * r + i];
                }
            }
        }
    }

    // What the cost formula needs of the local features f.
    static void keep_formula(const float *f, KeptRow &kept) {
        using namespace feature;
        const float inner_tasks = f[inner_parallelism];
        const float all_tasks = f[outer_parallelism] * inner_tasks;
        const float row_bytes = f[innermost_bytes_at_task] < 1.0f ? 1.0f : f[innermost_bytes_at_task];
        const float rows_per_page = 4096.0f / row_bytes;
        const float vectors = f[num_vectors], scalars = f[num_scalars];
        const float all_lanes = f[vector_size] * vectors;

        float *k = elements(kept.factors);
        k[0] = k[2] = all_lanes;
        k[1] = k[3] = scalars;
        k[5] = f[unique_lines_read_per_realization];
        k[6] = f[unique_bytes_read_per_realization];
        k[7] = f[scalar_loads_per_vector];
        k[8] = f[scalar_loads_per_scalar];
        k[9] = f[vector_loads_per_vector];
        k[10] = k[11] = f[unique_bytes_read_per_vector];
        k[12] = k[13] = f[unique_lines_read_per_vector];
        k[14] = f[unique_bytes_read_per_task];
        k[15] = f[unique_lines_read_per_task];
        k[16] = k[17] = k[18] = f[bytes_at_task] * inner_tasks;
        k[19] = k[20] = k[21] = f[bytes_at_realization];
        k[22] = scalars + vectors;
        k[23] = all_tasks * (rows_per_page < inner_tasks ? rows_per_page : inner_tasks);
        k[24] = k[25] = 1.0f;
        k[26] = inner_tasks - 1.0f;
        k[27] = f[working_set];
        k[4] = k[28] = k[29] = k[30] = k[31] = 0.0f;

        float *terms = elements(kept.terms);
        terms[KeptRow::num_realizations] = f[num_realizations];
        terms[KeptRow::num_productions] = f[num_productions];
        terms[KeptRow::num_scalars] = scalars;
        terms[KeptRow::num_vectors] = vectors;
        terms[KeptRow::num_tasks] = all_tasks < 1.0f ? 1.0f : all_tasks;
        terms[KeptRow::inner_tasks] = inner_tasks;
        terms[KeptRow::row_bytes] = row_bytes;
        terms[KeptRow::bytes_at_production] = f[bytes_at_production];
        terms[KeptRow::inlined_calls] = f[inlined_calls];
        for (size_t i = KeptRow::inlined_calls + 1; i < KeptRow::num_terms; i++) {
            terms[i] = 0.0f;
        }
    }

    template <int rows>
    static void keep_rows(const NetworkLayers &layers, const FeatureValues *const *features, KeptRow *const *kept) {
        constexpr int num_inputs = (num_local_features + lanes - 1) / lanes * lanes;
        alignas(64) float logs[rows][num_inputs];
        for (int r = 0; r < rows; r++) {
            alignas(64) float f[num_inputs];
            for (int i = 0; i < num_local_features; i++) {
                f[i] = static_cast<float>(elements(*features[r])[i]);
            }
            for (int i = num_local_features; i < num_inputs; i++) {
                f[i] = 0.0f;
            }
            for (int i = 0; i < num_inputs; i += lanes) {
                store(&logs[r][i], fast_log(load(f + i) + 1.0f));
            }
            keep_formula(f, *kept[r]);
        }
        Vector sums[rows][head2_vectors];
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < head2_vectors; v++) {
                sums[r][v] = load(elements(layers.head2_bias) + lanes * v);
            }
        }
        add_terms(sums, elements(layers.head2_filter), logs[0], num_inputs, num_local_features);
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < head2_vectors; v++) {
                store(elements(kept[r]->first_layer) + lanes * v, sums[r][v]);
            }
        }
    }

    template <int rows = interleaved>
    static void keep_all(const NetworkLayers &layers, const FeatureValues *const *features, KeptRow *const *kept,
                         size_t count) {
        size_t first = 0;
        for (; count - first >= rows; first += rows) {
            keep_rows<rows>(layers, features + first, kept + first);
        }
        if constexpr (rows > 1) {
            keep_all<rows - 1>(layers, features + first, kept + first, count - first);
        }
    }

    // The rest of the layers, from kept sums and the logarithms of the working sets, [row][4], to the coefficients,
    // each times its factor, [row][32].
    template <int rows>
    static void weigh_rows(const NetworkLayers &layers, const RatedRow *rated, const float *logs, float *products) {
        alignas(64) float hidden[rows][padded_channels];
        Vector sums[rows][head2_vectors];
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < head2_vectors; v++) {
                sums[r][v] = load(elements(rated[r].row->first_layer) + lanes * v);
            }
        }
        add_terms(sums, elements(layers.head2_filter) + padded_channels * num_local_features, logs, num_working_sets,
                  num_working_sets);
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < head2_vectors; v++) {
                store(&hidden[r][lanes * v], maximum(sums[r][v], Vector{}));
            }
        }
        Vector coefficients[rows][coefficient_vectors];
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < coefficient_vectors; v++) {
                coefficients[r][v] = load(elements(*rated[r].algorithm) + lanes * v);
            }
        }
        add_terms(coefficients, elements(layers.conv1_filter), hidden[0], padded_channels, head2_channels);
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < coefficient_vectors; v++) {
                const Vector factors = load(elements(rated[r].row->factors) + lanes * v);
                store(products + num_coefficients * r + lanes * v, maximum(coefficients[r][v], Vector{}) * factors);
            }
        }
    }

    template <int rows = interleaved>
    static void weigh_all(const NetworkLayers &layers, const RatedRow *rated, const float *logs, float *products,
                          size_t count) {
        size_t first = 0;
        for (; count - first >= rows; first += rows) {
            weigh_rows<rows>(layers, rated + first, logs + num_working_sets * first,
                             products + num_coefficients * first);
        }
        if constexpr (rows > 1) {
            weigh_all<rows - 1>(layers, rated + first, logs + num_working_sets * first,
                                products + num_coefficients * first, count - first);
        }
    }

    // The lower halves, or the upper ones, of each four lanes: a0 b0 a1 b1.
    template <int half, size_t... i>
    static Vector interleave(Vector a, Vector b, std::index_sequence<i...>) {
        return __builtin_shufflevector(a, b, static_cast<int>(i / 4 * 4 + i % 4 / 2 + 2 * half + i % 2 * lanes)...);
    }

    // The same of pairs: a0 a1 b0 b1.
    template <int half, size_t... i>
    static Vector interleave_pairs(Vector a, Vector b, std::index_sequence<i...>) {
        return __builtin_shufflevector(a, b, static_cast<int>(i / 4 * 4 + i % 2 + 2 * half + i % 4 / 2 * lanes)...);
    }

    // Writes column c of four rows to columns[c].
    static void transpose(const float *const (&rows)[group], int num_columns, Row *columns) {
        constexpr std::make_index_sequence<lanes> all;
        for (int c = 0; c < num_columns; c += lanes) {
            const Vector a = load(rows[0] + c), b = load(rows[1] + c), d = load(rows[2] + c), e = load(rows[3] + c);
            const Vector ab[2] = {interleave<0>(a, b, all), interleave<1>(a, b, all)};
            const Vector de[2] = {interleave<0>(d, e, all), interleave<1>(d, e, all)};
            const Vector transposed[4] = {
                interleave_pairs<0>(ab[0], de[0], all), interleave_pairs<1>(ab[0], de[0], all),
                interleave_pairs<0>(ab[1], de[1], all), interleave_pairs<1>(ab[1], de[1], all)};
            for (int part = 0; part < lanes / 4; part++) {
                for (int i = 0; i < 4; i++) {
                    __builtin_memcpy(&columns[c + 4 * part + i], reinterpret_cast<const Row *>(&transposed[i]) + part,
                                     sizeof(Row));
                }
            }
        }
    }

    // For x > 0, by rounding to the nearest integer as long as there are fractions.
    static Row ceiling(Row x) {
        const Row no_fractions = Row{} + 8388608.0f;
        const Row nearest = (x + no_fractions) - no_fractions;
        const Row above = nearest < x ? nearest + 1.0f : nearest;
        return x < no_fractions ? above : x;
    }

    // Costs from k, the coefficients times their factors, and from the other terms, associated as in section 3.5.
    static Row cost_formula(const Row *k, const Row *terms, Ints<group> is_first, float cores) {
        const Row zero = {};
        const Row one = zero + 1.0f;
        const Row tasks = terms[KeptRow::num_tasks];
        const Row vectors = terms[KeptRow::num_vectors], scalars = terms[KeptRow::num_scalars];
        const Row realizations = terms[KeptRow::num_realizations];
        const Row row_bytes = terms[KeptRow::row_bytes];
        const Ints<group> parallel = terms[KeptRow::inner_tasks] > one;

        const Row tasks_per_core = tasks / cores;
        const Row work = terms[KeptRow::inlined_calls] == zero ? k[0] + k[1] : k[2] + k[3];
        const Row compute = (work * ceiling(tasks_per_core)) / maximum(tasks_per_core, one);

        const Row per_task = k[15] + k[14];
        const Row per_scalar = (k[12] + k[10]) + k[8];
        const Row per_vector = ((k[11] + k[13]) + k[9]) + k[7];
        const Row per_realization = (k[24] + k[5]) + k[6];  // k[24]: malloc
        const Row load =
            (realizations * per_realization + scalars * per_scalar) + (vectors * per_vector + tasks * per_task);

        const Row lines = (parallel ? k[16] : is_first ? k[17] : k[18]) / row_bytes;
        const Row bytes = parallel ? k[19] : is_first ? k[20] : k[21];
        const Row false_sharing = parallel ? k[22] / row_bytes : zero;
        const Row page_faults = k[23] * terms[KeptRow::bytes_at_production];
        const Row stores = ((bytes + lines) * realizations + false_sharing) + page_faults;

        const Row parallelism = terms[KeptRow::num_productions] * ((parallel ? k[25] : zero) + k[26]);
        const Row twice_stores = stores + stores;  // quirk C1
        return (compute + ((parallelism + twice_stores) + (k[27] + load))) * 1e-9f;
    }

    // Up to four rows. Lanes without a row repeat the last one.
    static void rate_group(const NetworkLayers &layers, const RatedRow *rated, size_t count, float cores,
                           float *costs) {
        alignas(64) float logs[group * num_working_sets];
        alignas(64) float products[group][num_coefficients];
        const float *product_rows[group];
        const float *term_rows[group];
        Ints<group> is_first;
        for (size_t r = 0; r < group; r++) {
            const size_t row = r < count ? r : count - 1;
            __builtin_memcpy(logs + num_working_sets * r, &rated[row].working_sets, sizeof(rated[row].working_sets));
            product_rows[r] = products[row];
            term_rows[r] = elements(rated[row].row->terms);
            is_first[r] = rated[row].is_first ? -1 : 0;
        }
        for (int i = 0; i < group * num_working_sets; i += lanes) {
            store(logs + i, fast_log(load(logs + i) + 1.0f));
        }
        weigh_all(layers, rated, logs, products[0], count);
        Row columns[num_coefficients];
        Row terms[KeptRow::num_terms];
        transpose(product_rows, num_coefficients, columns);
        transpose(term_rows, KeptRow::num_terms, terms);
        const Row cost = cost_formula(columns, terms, is_first, cores);
        __builtin_memcpy(costs, &cost, sizeof(float) * count);
    }

    static void keep(const NetworkLayers &layers, const FeatureValues *const *rows, KeptRow *const *kept,
                     size_t count) {
        keep_all(layers, rows, kept, count);
    }

    static void rate(const NetworkLayers &layers, const RatedRow *rows, size_t count, float cores, float *costs) {
        for (size_t first = 0; first < count; first += group) {
            const size_t left = count - first;
            rate_group(layers, rows + first, left < group ? left : group, cores, costs + first);
        }
    }
};

}  // namespace

}  // namespace halidegym
