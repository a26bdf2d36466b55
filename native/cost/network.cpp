#include "cost/network.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>

#include "problem/error.h"

// Every product and every sum here rounds to float32 on its own, in the order of the compiled reference: this file must
// be compiled with contraction to fused multiply-add off. Sections and quirks are those of
// docs/specification/search-and-cost-model.md.

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

const NetworkKernel &kernel_for([[maybe_unused]] InstructionSet instruction_set) {
#ifdef __x86_64__
    switch (instruction_set) {
    case InstructionSet::Avx512:
        return avx512_network_kernel;
    case InstructionSet::Avx2:
        return avx2_network_kernel;
    case InstructionSet::Baseline:
        break;
    }
#endif
    return baseline_network_kernel;
}

}  // namespace

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
    : head1_bias_(weights.head1_bias), conv1_bias_(weights.conv1_bias), kernel_(&kernel_for(instruction_set)),
      weights_(weights) {
    std::ranges::copy(weights.head2_bias, layers_.head2_bias.begin());
    for (size_t i = 0; i < num_schedule_features; i++) {
        std::copy_n(weights.head2_filter.begin() + head2_channels * i, head2_channels,
                    layers_.head2_filter.begin() + padded_channels * i);
    }
    std::ranges::transform(weights.head1_filter, head1_filter_.begin(), logistic);
    const auto split = weights.conv1_filter.begin() + num_coefficients * head1_channels;
    std::copy(weights.conv1_filter.begin(), split, conv1_head1_filter_.begin());
    std::copy(split, weights.conv1_filter.end(), layers_.conv1_filter.begin());
}

AlgorithmPart Network::algorithm_part(AlgorithmFeatures features) const {
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

void Network::keep(std::span<const FeatureRow *const> rows, std::span<KeptRow *const> kept) const {
    assert(rows.size() == kept.size());
    kernel_->keep(layers_, rows.data(), kept.data(), rows.size());
}

void Network::rate(std::span<const RatedRow> rows, int parallelism, std::span<float> costs) const {
    assert(rows.size() == costs.size());
    kernel_->rate(layers_, rows.data(), rows.size(), static_cast<float>(parallelism), costs.data());
}

float Network::cost(std::span<const AlgorithmPart> stages, std::span<const FeatureRow *const> rows,
                    int parallelism) const {
    assert(stages.size() == rows.size());
    constexpr size_t at_once = 16;
    std::array<KeptRow, at_once> kept;
    std::array<KeptRow *, at_once> kept_at;
    for (size_t i = 0; i < at_once; i++) {
        kept_at[i] = &kept[i];
    }
    std::array<RatedRow, at_once> rated;
    std::array<float, at_once> costs;
    float cost = 0;
    for (size_t first = 0; first < rows.size(); first += at_once) {
        const size_t count = std::min(at_once, rows.size() - first);
        keep(rows.subspan(first, count), std::span(kept_at).first(count));
        for (size_t i = 0; i < count; i++) {
            rated[i] = {&kept[i], &stages[first + i], first + i == 0, working_sets(*rows[first + i])};
        }
        rate(std::span(rated).first(count), parallelism, std::span(costs).first(count));
        for (size_t i = 0; i < count; i++) {
            cost += costs[i];
        }
    }
    return cost;
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
    std::vector<FeatureRow> rows(parts.size());
    std::vector<const FeatureRow *> row_at;
    for (const FeatureRow &row : rows) {
        row_at.push_back(&row);
    }
    std::vector<float> costs;
    auto features = schedule_features.begin();
    for (int n = 0; n < num_states; n++) {
        for (FeatureRow &row : rows) {
            std::copy_n(features, num_schedule_features, row.begin());
            features += num_schedule_features;
        }
        costs.push_back(cost(parts, row_at, parallelism));
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

}  // namespace halidegym
