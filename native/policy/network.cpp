#include "policy/network.h"

#include <cassert>

namespace halidegym {

namespace {

const PolicyKernel &kernel_for([[maybe_unused]] InstructionSet instruction_set) {
#ifdef __x86_64__
    switch (instruction_set) {
    case InstructionSet::Avx512:
        return avx512_policy_kernel;
    case InstructionSet::Avx2:
        return avx2_policy_kernel;
    case InstructionSet::Baseline:
        break;
    }
#endif
    return baseline_policy_kernel;
}

}  // namespace

PolicyNetwork::PolicyNetwork(const PolicyConfig &config, std::span<const NamedArray> arrays,
                             InstructionSet instruction_set)
    : config_(config), layers_(policy_layers(config, arrays)), kernel_(&kernel_for(instruction_set)) {}

void PolicyNetwork::add(const PolicyLayer &layer, std::span<const float> inputs, size_t stride,
                        std::span<float> outputs, Activation activation) const {
    const size_t rows = outputs.size() / layer.width;
    assert(rows == 0 || inputs.size() >= (rows - 1) * stride + layer.inputs);
    if (layer.width == 1) {
        assert(stride == layer.inputs && activation == Activation::None);
        kernel_->add_dots(inputs.data(), layer.weights.data(), layer.inputs, outputs.data(), rows);
    } else {
        kernel_->add_product({.inputs = inputs.data(),
                              .inputs_stride = stride,
                              .num_inputs = layer.inputs,
                              .weights = layer.weights.data(),
                              .outputs = outputs.data(),
                              .width = layer.width,
                              .rows = rows,
                              .rectify = activation == Activation::Relu});
    }
}

}  // namespace halidegym
