#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace halidegym {

// A linear layer, or its part for some of the inputs, ready to be multiplied with.
struct PolicyLayer {
    size_t inputs = 0;
    size_t width = 0;            // of outputs
    std::vector<float> weights;  // [inputs * width]
    std::vector<float> bias;     // [width]; empty if there is none, or another part has it

    bool empty() const { return inputs == 0; }
};

// What joins several inputs end to end is a layer for each of them here, whose products are added; and factors that
// inputs come with are in the weights.

struct MessageLayers {
    PolicyLayer stage;
    PolicyLayer edge;  // empty if edge features are not used
};

struct RoundLayers {
    MessageLayers to_consumers, to_producers;
    PolicyLayer own, from_producers, from_consumers;
    std::vector<float> norm_scale, norm_bias;  // [width]
};

struct HeadLayers {
    PolicyLayer descriptor, stage, context;
    PolicyLayer child;  // empty in the blind head
    PolicyLayer hidden, logit;
};

struct PolicyLayers {
    PolicyLayer algorithm;  // two layers of the network, with nothing between them
    PolicyLayer stage;      // empty if stage features are not used
    PolicyLayer stage_hidden;
    std::vector<RoundLayers> rounds;
    PolicyLayer pooled;  // of the context: from all stages
    PolicyLayer state;   // of the context: from the groups of a state's stages, phase and progress
    HeadLayers blind, child_reading;
    PolicyLayer value_context, value_known, value_output;
};

// Sizes of a network, and what it looks at.
struct PolicyConfig {
    int width = 64;  // of each hidden layer, a multiple of 16
    int rounds = 3;  // of messages between stages
    int loops = 8;   // whose trip counts the descriptor of a decision shows
    bool use_stage_features = true;
    bool use_edge_features = true;
    bool use_demands = true;  // of decisions
};

struct NamedArray {
    std::string name;
    std::vector<size_t> shape;
    std::span<const float> values;
};

// Groups of stages whose means a state sees: the deciding ones, their consumers that are not inlined, and the inlined
// ones, those at the root and those within others. Then two flags for the phase, and the share of decisions made.
inline constexpr size_t num_stage_groups = 5;
inline constexpr size_t num_state_features = 3;
// The first child feature compares with a greedy schedule, for which a search would have to pay: no head reads it.
inline constexpr size_t first_child_feature = 1;

// Layers of the arrays that `halidegym.training.networks` names. Throws InvalidParameter if the configuration is out of
// range, or an array is missing, unknown, of another shape or not finite.
PolicyLayers policy_layers(const PolicyConfig &config, std::span<const NamedArray> arrays);

}  // namespace halidegym
