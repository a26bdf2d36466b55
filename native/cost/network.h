#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "cost/feature_table.h"
#include "cost/network_rows.h"
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

// The features of a row that follow from the whole nest.
inline std::array<float, num_working_sets> working_sets(const FeatureRow &row) {
    std::array<float, num_working_sets> result;
    for (size_t i = 0; i < result.size(); i++) {
        result[i] = static_cast<float>(row[num_local_features + i]);
    }
    return result;
}

// What the inner loops are compiled for. It makes no difference to any result.
enum class InstructionSet { Baseline, Avx2, Avx512 };

// Those of this machine, ascending.
std::vector<InstructionSet> available_instruction_sets();

// Weights prepared for inference. Immutable, so that all threads and problems can share one.
class Network {
public:
    explicit Network(const Weights &weights, InstructionSet instruction_set = available_instruction_sets().back());

    AlgorithmPart algorithm_part(AlgorithmFeatures features) const;

    // Prepares rows[i] to be rated, in kept[i]; working sets are not read. Several rows at a time are faster: a row
    // waits for one sum after the other.
    void keep(std::span<const FeatureRow *const> rows, std::span<KeptRow *const> kept) const;

    // costs[i] becomes that of rows[i], in milliseconds as trained; up to 16 rows at a time are faster. The cost of a
    // state is the sum over its rows in the model's order, from 0, in float32.
    void rate(std::span<const RatedRow> rows, int parallelism, std::span<float> costs) const;

    // Cost in milliseconds as trained of a state whose stages, in the model's order, have these algorithm features and
    // rows. The first one has store coefficients of its own (quirk C4).
    float cost(std::span<const AlgorithmPart> stages, std::span<const FeatureRow *const> rows, int parallelism) const;

    // Costs of a batch of states of one pipeline, row-major: algorithm features [stages][7][40], schedule features
    // [states][stages][39].
    std::vector<float> predict(std::span<const float> algorithm_features, std::span<const double> schedule_features,
                               int num_states, int num_stages, int parallelism) const;

    const Weights &weights() const { return weights_; }

private:
    NetworkLayers layers_;
    std::array<float, head1_channels * num_operations * num_scalar_types> head1_filter_;  // after the logistic function
    std::array<float, head1_channels> head1_bias_;
    std::array<float, num_coefficients * head1_channels> conv1_head1_filter_;
    std::array<float, num_coefficients> conv1_bias_;
    const NetworkKernel *kernel_;
    Weights weights_;
};

// The network applied to the stages of one problem.
class CostModel {
public:
    CostModel(const Problem &problem, std::shared_ptr<const Network> network);

    const Network &network() const { return *network_; }

    int parallelism() const { return parallelism_; }

    // Of a stage by its position in the model's order: nodes in order without inputs, within a node the last update
    // first (quirk C5).
    const AlgorithmPart &algorithm_part(size_t position) const { return stages_[position]; }

private:
    std::shared_ptr<const Network> network_;
    int parallelism_;
    std::vector<AlgorithmPart> stages_;  // by position
};

}  // namespace halidegym
