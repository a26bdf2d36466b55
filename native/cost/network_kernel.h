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
    static constexpr int chunk = 16;               // rows that take a step after each other
    static constexpr int group = 4;                // rows of a cost formula
    static constexpr int interleaved = lanes / 4;  // rows that take turns in a layer, so that it has eight sums at once
    static constexpr int head2_vectors = (head2_channels + lanes - 1) / lanes;
    static constexpr int coefficient_vectors = num_coefficients / lanes;
    static constexpr int padded_local_features = 48;  // so that each row begins at a cache line
    using Row = Floats<group>;                        // one quantity of each row of a group

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

    template <size_t... i>
    static Vector round_to_float(const double *from, std::index_sequence<i...>) {
        using Half = Floats<lanes / 2>;
        using Doubles [[gnu::vector_size(sizeof(double) * lanes / 2)]] = double;
        Doubles low, high;
        __builtin_memcpy(&low, from, sizeof(Doubles));
        __builtin_memcpy(&high, from + lanes / 2, sizeof(Doubles));
        return __builtin_shufflevector(__builtin_convertvector(low, Half), __builtin_convertvector(high, Half),
                                       static_cast<int>(i)...);
    }

    // The logarithm as the reference evaluates it, for x > 0 (section 3.3).
    template <typename V>
    static V fast_log(V x) {
        using Bits = Ints<sizeof(V) / sizeof(float)>;
        const Bits bits = reinterpret_cast<Bits>(x);
        const Bits mantissa = bits & static_cast<int32_t>(0x807fffff);
        const Bits above = mantissa >> 22;
        const V m = reinterpret_cast<V>(mantissa | ((127 - above) << 23));
        const V exponent = __builtin_convertvector((bits >> 23) - 127 + above, V);
        const V t = m - 1.0f;
        const V q = t * t;
        const V even = ((-0.162529618f * q - 0.251102597f) * q - 0.499975145f) * q;
        const V odd = (((0.0764031857f * q + 0.206252187f) * q + 0.333204657f) * q + 1.0f) * t;
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

    // What the cost formula needs of the local features f. Not inlined, so that it loads them one by one, and does not
    // take them out of vectors, which is slower.
    [[gnu::noinline]] static void keep_formula(const float *f, KeptRow &kept) {
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
        alignas(64) float logs[rows][padded_local_features];
        for (int r = 0; r < rows; r++) {
            alignas(64) float f[padded_local_features];
            const double *from = elements(*features[r]);
            for (int i = 0; i < num_local_features; i += lanes) {
                const int begin = i < num_local_features - lanes ? i : num_local_features - lanes;
                const Vector values = round_to_float(from + begin, std::make_index_sequence<lanes>());
                store(f + begin, values);
                store(&logs[r][begin], fast_log(values + 1.0f));
            }
            keep_formula(f, *kept[r]);
        }
        Vector sums[rows][head2_vectors];
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < head2_vectors; v++) {
                sums[r][v] = load(elements(layers.head2_bias) + lanes * v);
            }
        }
        add_terms(sums, elements(layers.head2_filter), logs[0], padded_local_features, num_local_features);
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
                          int count) {
        int first = 0;
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

    // The working sets of count / 4 rows.
    template <int count>
    static Floats<count> join(const RatedRow *const *rows) {
        if constexpr (count == num_working_sets) {
            return load<Floats<count>>(elements(rows[0]->working_sets));
        } else {
            return join<count>(rows, std::make_index_sequence<count>());
        }
    }
    template <int count, size_t... i>
    static Floats<count> join(const RatedRow *const *rows, std::index_sequence<i...>) {
        return __builtin_shufflevector(join<count / 2>(rows), join<count / 2>(rows + count / 8),
                                       static_cast<int>(i)...);
    }

    // Up to `chunk` rows, one step after the other: a step is a chain of operations that wait for each other, and the
    // chains of several rows overlap. Lanes without a row repeat the last one.
    static void rate_chunk(const NetworkLayers &layers, const RatedRow *rated, int count, float cores, float *costs) {
        alignas(64) float logs[chunk * num_working_sets];
        alignas(64) float products[chunk][num_coefficients];
        const RatedRow *rows[chunk];
        for (int r = 0; r < count; r++) {
            rows[r] = rated + r;
        }
        for (int r = count; r % group != 0; r++) {
            rows[r] = rated + count - 1;
        }
        for (int r = 0; r < count; r += group) {
            for (int i = 0; i < group; i += interleaved) {
                const Vector sizes = join<lanes>(rows + r + i);
                store(logs + num_working_sets * (r + i), fast_log(sizes + 1.0f));
            }
        }
        weigh_all(layers, rated, logs, products[0], count);
        for (int r = 0; r < count; r += group) {
            const float *product_rows[group], *term_rows[group];
            for (int i = 0; i < group; i++) {
                product_rows[i] = products[rows[r + i] - rated];
                term_rows[i] = elements(rows[r + i]->row->terms);
            }
            const Ints<group> is_first = {rows[r]->is_first, rows[r + 1]->is_first, rows[r + 2]->is_first,
                                          rows[r + 3]->is_first};
            Row columns[num_coefficients];
            Row terms[KeptRow::num_terms];
            transpose(product_rows, num_coefficients, columns);
            transpose(term_rows, KeptRow::num_terms, terms);
            const Row cost = cost_formula(columns, terms, is_first != 0, cores);
            if (count - r >= group) {
                store(costs + r, cost);
            } else {
                for (int i = 0; r + i < count; i++) {
                    costs[r + i] = cost[i];
                }
            }
        }
    }

    static void keep(const NetworkLayers &layers, const FeatureValues *const *rows, KeptRow *const *kept,
                     size_t count) {
        keep_all(layers, rows, kept, count);
    }

    static void rate(const NetworkLayers &layers, const RatedRow *rows, size_t count, float cores, float *costs) {
        for (size_t first = 0; first < count; first += chunk) {
            const size_t left = count - first;
            rate_chunk(layers, rows + first, static_cast<int>(left < chunk ? left : chunk), cores, costs + first);
        }
    }
};

}  // namespace

}  // namespace halidegym
