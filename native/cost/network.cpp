#include "cost/network.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "problem/error.h"

// Every product and every sum here rounds to float32 on its own, in the order of the compiled reference: this file must
// be compiled with contraction to fused multiply-add off. The loops run over channels, whose sums are independent, so
// that vectorising them changes no bit. Sections and quirks are those of docs/specification/search-and-cost-model.md.

namespace halidegym {

namespace {

// The logistic function as the reference evaluates it (section 3.3).
float logistic(float v) {
    const float j = std::floor(v * -1.44269502f);
    if (j >= 128.0f) {
        return 0.0f;
    }
    if (j <= -127.0f) {
        return 1.0f;
    }
    const float d = j * 0.693147182f + v;
    const float q = d * d;
    const float odd = (((-0.000319659332f * q - 0.0084898863f) * q - 0.166679844f) * q - 1.0f) * d;
    const float even = ((0.00119156833f * q + 0.0416018814f) * q + 0.499998987f) * q + 1.0f;
    const float power = std::bit_cast<float>((static_cast<int32_t>(j) << 23) + 0x3f800000);
    return 1.0f / (power * (odd + even) + 1.0f);
}

// The logarithm as the reference evaluates it, for x > 0 (section 3.3).
[[gnu::always_inline]] inline float fast_log(float x) {
    const auto bits = std::bit_cast<int32_t>(x);
    const int32_t mantissa = bits & static_cast<int32_t>(0x807fffff);
    const int32_t above = mantissa >> 22;
    const float m = std::bit_cast<float>(mantissa | ((127 - above) << 23));
    const auto exponent = static_cast<float>((bits >> 23) - 127 + above);
    const float t = m - 1.0f;
    const float q = t * t;
    const float even = ((-0.162529618f * q - 0.251102597f) * q - 0.499975145f) * q;
    const float odd = (((0.0764031857f * q + 0.206252187f) * q + 0.333204657f) * q + 1.0f) * t;
    return (even + exponent * 0.693147182f) + odd;
}

// Cost of a stage from its coefficients k and schedule features f, associated as in section 3.5.
[[gnu::always_inline]] inline float cost_formula(const float *k, const float *f, bool is_first, float cores) {
    using namespace feature;
    const float inner_tasks = f[inner_parallelism];
    const bool parallel = inner_tasks > 1.0f;
    const float all_tasks = f[outer_parallelism] * inner_tasks;
    const float tasks = std::max(all_tasks, 1.0f);
    const float tasks_per_core = tasks / cores;

    const float vectors = f[num_vectors], scalars = f[num_scalars];
    const float lanes = f[vector_size] * vectors;
    const float work = f[inlined_calls] == 0.0f ? lanes * k[0] + scalars * k[1] : lanes * k[2] + scalars * k[3];
    const float compute = (work * std::ceil(tasks_per_core)) / std::max(tasks_per_core, 1.0f);

    const float per_task = k[15] * f[unique_lines_read_per_task] + k[14] * f[unique_bytes_read_per_task];
    const float per_scalar = (k[12] * f[unique_lines_read_per_vector] + k[10] * f[unique_bytes_read_per_vector]) +
                             k[8] * f[scalar_loads_per_scalar];
    const float per_vector = ((k[11] * f[unique_bytes_read_per_vector] + k[13] * f[unique_lines_read_per_vector]) +
                              k[9] * f[vector_loads_per_vector]) +
                             k[7] * f[scalar_loads_per_vector];
    const float per_realization = (k[24] + k[5] * f[unique_lines_read_per_realization]) +  // k[24]: malloc
                                  k[6] * f[unique_bytes_read_per_realization];
    const float load =
        (f[num_realizations] * per_realization + scalars * per_scalar) + (vectors * per_vector + tasks * per_task);

    const float line_cost = parallel ? k[16] : is_first ? k[17] : k[18];
    const float byte_cost = parallel ? k[19] : is_first ? k[20] : k[21];
    const float row_bytes = std::max(f[innermost_bytes_at_task], 1.0f);
    const float lines = ((f[bytes_at_task] * inner_tasks) * line_cost) / row_bytes;
    const float false_sharing = parallel ? ((scalars + vectors) * k[22]) / row_bytes : 0.0f;
    const float page_faults =
        ((all_tasks * std::min(inner_tasks, 4096.0f / row_bytes)) * k[23]) * f[bytes_at_production];
    const float store =
        ((byte_cost * f[bytes_at_realization] + lines) * f[num_realizations] + false_sharing) + page_faults;

    const float parallelism = f[num_productions] * ((parallel ? k[25] : 0.0f) + (inner_tasks - 1.0f) * k[26]);
    const float twice_store = store + store;  // quirk C1
    return (compute + ((parallelism + twice_store) + (f[working_set] * k[27] + load))) * 1e-9f;
}

}  // namespace

// The cost of one stage, and copies of them for several instruction sets.
struct Network::Kernel {
    [[gnu::always_inline]] static inline float run(const Network &network, const AlgorithmPart &algorithm,
                                                   ScheduleFeatures features, bool is_first, float cores) {
        constexpr int padded_features = 48;  // a multiple of the vector width
        alignas(64) float f[padded_features] = {};
        alignas(64) float log_f[padded_features];
        for (int i = 0; i < num_schedule_features; i++) {
            f[i] = static_cast<float>(features[static_cast<size_t>(i)]);
        }
        for (int i = 0; i < padded_features; i++) {
            log_f[i] = fast_log(f[i] + 1.0f);
        }

        alignas(64) float h[head2_channels];
        for (int c = 0; c < head2_channels; c++) {
            h[c] = network.head2_bias_.data()[c];
        }
        for (int i = 0; i < num_schedule_features; i++) {
            for (int c = 0; c < head2_channels; c++) {
                h[c] += network.head2_filter_.data()[c + head2_channels * i] * log_f[i];
            }
        }
        for (float &value : h) {
            value = std::max(value, 0.0f);
        }

        alignas(64) float k[num_coefficients];
        for (int c = 0; c < num_coefficients; c++) {
            k[c] = algorithm.data()[c];
        }
        for (int r = 0; r < head2_channels; r++) {
            for (int c = 0; c < num_coefficients; c++) {
                k[c] += network.conv1_head2_filter_.data()[c + num_coefficients * r] * h[r];
            }
        }
        for (float &value : k) {
            value = std::max(value, 0.0f);
        }
        return cost_formula(k, f, is_first, cores);
    }

    static float baseline(const Network &network, const AlgorithmPart &algorithm, ScheduleFeatures features,
                          bool is_first, float cores) {
        return run(network, algorithm, features, is_first, cores);
    }

#ifdef __x86_64__
    [[gnu::target("avx2")]]
    static float avx2(const Network &network, const AlgorithmPart &algorithm, ScheduleFeatures features, bool is_first,
                      float cores) {
        return run(network, algorithm, features, is_first, cores);
    }

    [[gnu::target("avx512f,avx512vl,avx512dq")]]
    static float avx512(const Network &network, const AlgorithmPart &algorithm, ScheduleFeatures features,
                        bool is_first, float cores) {
        return run(network, algorithm, features, is_first, cores);
    }

    static Evaluate compiled_for(InstructionSet instruction_set) {
        switch (instruction_set) {
        case InstructionSet::Avx512:
            return avx512;
        case InstructionSet::Avx2:
            return avx2;
        case InstructionSet::Baseline:
            break;
        }
        return baseline;
    }
#else
    static Evaluate compiled_for(InstructionSet) { return baseline; }
#endif
};

std::vector<InstructionSet> available_instruction_sets() {
    std::vector<InstructionSet> sets = {InstructionSet::Baseline};
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        sets.push_back(InstructionSet::Avx2);
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
        sets.push_back(InstructionSet::Avx512);
    }
#endif
    return sets;
}

Network::Network(const Weights &weights, InstructionSet instruction_set)
    : head2_filter_(weights.head2_filter), head2_bias_(weights.head2_bias), head1_bias_(weights.head1_bias),
      conv1_bias_(weights.conv1_bias), evaluate_(Kernel::compiled_for(instruction_set)), weights_(weights) {
    std::ranges::transform(weights.head1_filter, head1_filter_.begin(), logistic);
    const auto split = weights.conv1_filter.begin() + num_coefficients * head1_channels;
    std::copy(weights.conv1_filter.begin(), split, conv1_head1_filter_.begin());
    std::copy(split, weights.conv1_filter.end(), conv1_head2_filter_.begin());
}

Network::AlgorithmPart Network::algorithm_part(AlgorithmFeatures features) const {
    std::array<float, head1_channels> h = head1_bias_;
    for (size_t i = 0; i < features.size(); i++) {
        for (size_t c = 0; c < h.size(); c++) {
            h[c] += head1_filter_[c + h.size() * i] * features[i];
        }
    }
    AlgorithmPart z = conv1_bias_;
    for (size_t r = 0; r < h.size(); r++) {
        for (size_t c = 0; c < z.size(); c++) {
            z[c] += conv1_head1_filter_[c + z.size() * r] * h[r];
        }
    }
    return z;
}

std::vector<float> Network::predict(std::span<const float> algorithm_features,
                                    std::span<const double> schedule_features, int num_states, int num_stages,
                                    int parallelism) const {
    if (parallelism < 1) {
        throw InvalidParameter("parallelism is " + std::to_string(parallelism) +
                               "; give a number of cores of at least 1.");
    }
    std::vector<AlgorithmPart> parts;
    for (int w = 0; w < num_stages; w++) {
        constexpr size_t size = AlgorithmFeatures::extent;
        parts.push_back(algorithm_part(algorithm_features.subspan(static_cast<size_t>(w) * size).first<size>()));
    }
    std::vector<float> costs;
    for (int n = 0; n < num_states; n++) {
        const auto rows = schedule_features.subspan(static_cast<size_t>(n) * parts.size() * num_schedule_features);
        const auto row = [&](size_t w) {
            return rows.subspan(w * num_schedule_features).first<num_schedule_features>();
        };
        costs.push_back(cost(parts, row, parallelism));
    }
    return costs;
}

namespace {

// Feature 7 + 7 * operation + type of the stage becomes [type][operation]
// (docs/specification/function-dag.md, section 9.2).
std::array<float, AlgorithmFeatures::extent> network_input(const Stage &stage) {
    std::array<float, AlgorithmFeatures::extent> input;
    for (int type = 0; type < num_scalar_types; type++) {
        for (int operation = 0; operation < num_operations; operation++) {
            const int feature = num_scalar_types + num_scalar_types * operation + type;
            input[static_cast<size_t>(num_operations * type + operation)] =
                static_cast<float>(stage.features[static_cast<size_t>(feature)]);
        }
    }
    return input;
}

}  // namespace

CostModel::CostModel(const Problem &problem, std::shared_ptr<const Network> network)
    : network_(std::move(network)), parallelism_(problem.parallelism) {
    for (const Node &node : problem.nodes) {
        if (node.is_input) {
            continue;
        }
        for (int index = node.num_stages - 1; index >= 0; index--) {
            stages_.push_back(network_->algorithm_part(network_input(problem.stage(node, index))));
        }
    }
}

float CostModel::cost(const FeatureTable &features) const {
    const auto row = [&](size_t w) -> const FeatureRow & { return features.row(features.stages[w]); };
    return network_->cost(std::span(stages_).first(features.stages.size()), row, parallelism_);
}

}  // namespace halidegym
