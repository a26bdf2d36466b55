#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "cost/features.h"
#include "cost/weights.h"
#include "problem/problem.h"

namespace halidegym {

// Inference with the cost model of Adams et al. 2019, section 5, equal to the compiled one of the Adams2019 plugin bit
// for bit. Sections and quirks are those of docs/specification/search-and-cost-model.md.
//
// The cost of a state is the sum over its stages of a formula in 32 coefficients, and the coefficients of a stage
// depend on that stage's features alone. What the algorithm features contribute is constant for a pipeline, so it is
// computed once.

// Algorithm features of one stage as the network takes them, [7 types][40 operations]
// (docs/specification/function-dag.md, section 9.2).
using AlgorithmFeatures = std::span<const float, num_operations * num_scalar_types>;
using ScheduleFeatures = std::span<const double, num_schedule_features>;

// What the inner loops are compiled for. It makes no difference to any result.
enum class InstructionSet { Baseline, Avx2, Avx512 };

// Those of this machine, ascending.
std::vector<InstructionSet> available_instruction_sets();

// Weights prepared for inference. Immutable, so that all threads and problems can share one.
class Network {
public:
    explicit Network(const Weights &weights, InstructionSet instruction_set = available_instruction_sets().back());

    // The second layer before it has seen any schedule feature: its bias and the terms of head 1 (section 3.3, steps 2
    // and 4).
    using AlgorithmPart = std::array<float, num_coefficients>;
    AlgorithmPart algorithm_part(AlgorithmFeatures features) const;

    // Cost in milliseconds as trained of a state whose stages, in the model's order, have these algorithm features and
    // the schedule features that `row` returns for the position of a stage. The first one has store coefficients of its
    // own (quirk C4).
    template <typename Row>
    float cost(std::span<const AlgorithmPart> stages, const Row &row, int parallelism) const {
        float cost = 0;
        for (size_t w = 0; w < stages.size(); w++) {
            cost += evaluate_(*this, stages[w], row(w), w == 0, static_cast<float>(parallelism));
        }
        return cost;
    }

    // Costs of a batch of states of one pipeline, row-major: algorithm features [stages][7][40], schedule features
    // [states][stages][39].
    std::vector<float> predict(std::span<const float> algorithm_features, std::span<const double> schedule_features,
                               int num_states, int num_stages, int parallelism) const;

    const Weights &weights() const { return weights_; }

private:
    struct Kernel;
    using Evaluate = float (*)(const Network &, const AlgorithmPart &, ScheduleFeatures, bool is_first, float cores);

    alignas(64) std::array<float, head2_channels * num_schedule_features> head2_filter_;   // [c + 24 * feature]
    alignas(64) std::array<float, num_coefficients * head2_channels> conv1_head2_filter_;  // [c + 32 * r]
    alignas(64) std::array<float, head2_channels> head2_bias_;
    std::array<float, head1_channels * num_operations * num_scalar_types> head1_filter_;  // after the logistic function
    std::array<float, head1_channels> head1_bias_;
    std::array<float, num_coefficients * head1_channels> conv1_head1_filter_;
    std::array<float, num_coefficients> conv1_bias_;
    Evaluate evaluate_;
    Weights weights_;
};

// The network applied to the stages of one problem.
class CostModel {
public:
    CostModel(const Problem &problem, std::shared_ptr<const Network> network);

    const Network &network() const { return *network_; }

    // Cost of a state with these features. A partial one has the first few stages.
    float cost(const FeatureTable &features) const;

private:
    std::shared_ptr<const Network> network_;
    int parallelism_;
    // In the model's order: nodes in order without inputs, within a node the last update first (quirk C5).
    std::vector<Network::AlgorithmPart> stages_;
};

}  // namespace halidegym
