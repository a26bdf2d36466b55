#include "policy/layers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "cost/weights.h"
#include "observation/child_rows.h"
#include "observation/decision_rows.h"
#include "observation/problem_rows.h"
#include "policy/kernel.h"
#include "problem/error.h"

namespace halidegym {

namespace {

constexpr size_t num_algorithm_inputs = static_cast<size_t>(num_operations) * num_scalar_types;
constexpr size_t algorithm_width = 24;
// Logarithms of up to 60 come near 1 by these.
constexpr float stage_scale = 0.1f, row_scale = 0.2f;

std::string shape_text(std::span<const size_t> shape) {
    std::string text;
    for (const size_t extent : shape) {
        text += (text.empty() ? "" : ", ") + std::to_string(extent);
    }
    return "[" + text + "]";
}

// Hands out arrays by name, each once.
class ArrayReader {
public:
    explicit ArrayReader(std::span<const NamedArray> arrays) {
        for (const NamedArray &array : arrays) {
            left_.emplace(array.name, &array);
        }
    }

    std::span<const float> take(const std::string &name, const std::vector<size_t> &shape) {
        const auto found = left_.find(name);
        if (found == left_.end()) {
            throw InvalidParameter("the policy has no array " + name + " of shape " + shape_text(shape) +
                                   "; give all weights of the network");
        }
        const NamedArray &array = *found->second;
        if (array.shape != shape) {
            throw InvalidParameter("the array " + name + " of the policy has the shape " + shape_text(array.shape) +
                                   ", the network needs " + shape_text(shape) +
                                   "; give the configuration that it was trained with");
        }
        if (!std::ranges::all_of(array.values, [](float value) { return std::isfinite(value); })) {
            throw InvalidParameter(
                "the array " + name +
                " of the policy has values that are not finite: its training has diverged. Train it anew");
        }
        left_.erase(found);
        return array.values;
    }

    PolicyLayer layer(const std::string &name, size_t inputs, size_t width, bool has_bias = true) {
        const std::span<const float> rows = take(name + ".weight", {width, inputs});
        PolicyLayer layer{inputs, width, std::vector<float>(inputs * width), {}};
        for (size_t output = 0; output < width; output++) {
            for (size_t input = 0; input < inputs; input++) {
                layer.weights[input * width + output] = rows[output * inputs + input];
            }
        }
        if (has_bias) {
            const std::span<const float> bias = take(name + ".bias", {width});
            layer.bias.assign(bias.begin(), bias.end());
        }
        return layer;
    }

    void expect_end() const {
        if (!left_.empty()) {
            throw InvalidParameter("the network has no array " + left_.begin()->first +
                                   "; give the configuration that the policy was trained with");
        }
    }

private:
    std::map<std::string, const NamedArray *, std::less<>> left_;
};

// For inputs that come times `scale`.
PolicyLayer scaled_by(float scale, PolicyLayer layer) {
    for (float &weight : layer.weights) {
        weight *= scale;
    }
    return layer;
}

// For `count` of the inputs. The bias stays with the first ones.
PolicyLayer part(const PolicyLayer &layer, size_t first, size_t count) {
    const auto begin = layer.weights.begin() + static_cast<ptrdiff_t>(first * layer.width);
    return {count, layer.width, std::vector<float>(begin, begin + static_cast<ptrdiff_t>(count * layer.width)),
            first == 0 ? layer.bias : std::vector<float>()};
}

// One layer after the other, with nothing in between; the first one has no bias.
PolicyLayer product(const PolicyLayer &first, const PolicyLayer &second) {
    PolicyLayer result{first.inputs, second.width, {}, second.bias};
    for (size_t input = 0; input < first.inputs; input++) {
        for (size_t output = 0; output < second.width; output++) {
            double sum = 0;
            for (size_t i = 0; i < first.width; i++) {
                sum += static_cast<double>(first.weights[input * first.width + i]) *
                       static_cast<double>(second.weights[i * second.width + output]);
            }
            result.weights.push_back(static_cast<float>(sum));
        }
    }
    return result;
}

MessageLayers message_layers(ArrayReader &arrays, const std::string &name, size_t width, bool use_edge_features) {
    const size_t edge_inputs = use_edge_features ? num_edge_features : 0;
    const PolicyLayer joined = arrays.layer(name, width + edge_inputs, width);
    return {part(joined, 0, width), scaled_by(row_scale, part(joined, width, edge_inputs))};
}

RoundLayers round_layers(ArrayReader &arrays, const std::string &name, const PolicyConfig &config) {
    const auto width = static_cast<size_t>(config.width);
    const PolicyLayer update = arrays.layer(name + ".update", 3 * width, width);
    const std::span<const float> scale = arrays.take(name + ".norm.weight", {width});
    const std::span<const float> bias = arrays.take(name + ".norm.bias", {width});
    return {.to_consumers = message_layers(arrays, name + ".to_consumers", width, config.use_edge_features),
            .to_producers = message_layers(arrays, name + ".to_producers", width, config.use_edge_features),
            .own = part(update, 0, width),
            .from_producers = part(update, width, width),
            .from_consumers = part(update, 2 * width, width),
            .norm_scale = {scale.begin(), scale.end()},
            .norm_bias = {bias.begin(), bias.end()}};
}

HeadLayers head_layers(ArrayReader &arrays, const std::string &name, const PolicyConfig &config, bool reads_children) {
    const auto width = static_cast<size_t>(config.width);
    const auto columns = static_cast<size_t>(config.use_demands ? DecisionRows::columns(config.loops)
                                                                : DecisionRows::columns_before_demands(config.loops));
    constexpr size_t child_inputs = num_child_features - first_child_feature;
    return {.descriptor = scaled_by(row_scale, arrays.layer(name + ".descriptor", columns, width)),
            .stage = arrays.layer(name + ".stage", width, width, false),
            .context = arrays.layer(name + ".context", width, width, false),
            .child = reads_children ? scaled_by(row_scale, arrays.layer(name + ".child", child_inputs, width, false))
                                    : PolicyLayer(),
            .hidden = arrays.layer(name + ".hidden", width, width),
            .logit = arrays.layer(name + ".logit", width, 1)};
}

void check(const PolicyConfig &config) {
    const auto check_range = [](const char *name, int value, int least, int most) {
        if (value < least || value > most) {
            throw InvalidParameter(std::string(name) + "=" + std::to_string(value) + " of a policy's network; give " +
                                   std::to_string(least) + " to " + std::to_string(most));
        }
    };
    constexpr auto lanes = static_cast<int>(policy_lanes);
    check_range("width", config.width, lanes, 512);
    check_range("rounds", config.rounds, 0, 16);
    check_range("loops", config.loops, 1, max_loops);
    if (config.width % lanes != 0) {
        throw InvalidParameter("width=" + std::to_string(config.width) + " of a policy's network; give a multiple of " +
                               std::to_string(lanes));
    }
}

}  // namespace

PolicyLayers policy_layers(const PolicyConfig &config, std::span<const NamedArray> arrays) {
    check(config);
    const auto width = static_cast<size_t>(config.width);
    const size_t stage_inputs = config.use_stage_features ? num_stage_features : 0;
    ArrayReader reader(arrays);
    const PolicyLayer algorithm = reader.layer("algorithm", num_algorithm_inputs, algorithm_width, false);
    const PolicyLayer input = reader.layer("stage_input", algorithm_width + stage_inputs, width);
    PolicyLayers layers;
    layers.algorithm = product(algorithm, part(input, 0, algorithm_width));
    layers.stage = scaled_by(stage_scale, part(input, algorithm_width, stage_inputs));
    layers.stage_hidden = reader.layer("stage_hidden", width, width);
    for (int i = 0; i < config.rounds; i++) {
        layers.rounds.push_back(round_layers(reader, "rounds." + std::to_string(i), config));
    }
    const size_t state_inputs = num_stage_groups * width + num_state_features;
    const PolicyLayer context = reader.layer("context_layer", 2 * width + state_inputs, width);
    layers.pooled = part(context, 0, 2 * width);
    layers.state = part(context, 2 * width, state_inputs);
    layers.blind = head_layers(reader, "blind", config, false);
    layers.child_reading = head_layers(reader, "child_reading", config, true);
    const PolicyLayer value = reader.layer("value_hidden", width + 2, width);
    layers.value_context = part(value, 0, width);
    layers.value_known = part(value, width, 2);
    layers.value_output = reader.layer("value_output", width, 1);
    reader.expect_end();
    return layers;
}

}  // namespace halidegym
