#pragma once

#include <cstddef>
#include <span>

#include "cost/network.h"
#include "policy/kernel.h"
#include "policy/layers.h"

namespace halidegym {

enum class Activation { None, Relu };

// The weights of a policy: an encoder of problems, two heads that rate decisions, and one that values states. The same
// network is trained in torch (`training/networks/`); results are equal up to rounding. Immutable, so that all threads
// and problems can share one.
class PolicyNetwork {
public:
    // Throws InvalidParameter, see policy_layers().
    PolicyNetwork(const PolicyConfig &config, std::span<const NamedArray> arrays,
                  InstructionSet instruction_set = available_instruction_sets().back());

    const PolicyConfig &config() const { return config_; }
    const PolicyLayers &layers() const { return layers_; }
    size_t width() const { return static_cast<size_t>(config_.width); }

    // Adds the layer's product with `rows` rows of inputs, whose beginnings are `stride` apart, to the outputs.
    void add(const PolicyLayer &layer, std::span<const float> inputs, size_t stride, std::span<float> outputs,
             Activation activation = Activation::None) const;
    // The same of rows that follow each other.
    void add(const PolicyLayer &layer, std::span<const float> inputs, std::span<float> outputs,
             Activation activation = Activation::None) const {
        add(layer, inputs, layer.inputs, outputs, activation);
    }

private:
    PolicyConfig config_;
    PolicyLayers layers_;
    const PolicyKernel *kernel_;
};

}  // namespace halidegym
