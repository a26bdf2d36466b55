#include "policy/encoded_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace halidegym {

namespace {

// Rows that begin with a layer's bias.
std::vector<float> biased(const PolicyLayer &layer, size_t rows) {
    std::vector<float> out;
    out.reserve(rows * layer.width);
    for (size_t row = 0; row < rows; row++) {
        out.insert(out.end(), layer.bias.begin(), layer.bias.end());
    }
    return out;
}

std::span<float> row_of(std::vector<float> &rows, size_t width, size_t index) {
    return std::span(rows).subspan(index * width, width);
}

// The mean of what each edge into a stage tells it; `from` and `to` are columns of the edges.
std::vector<float> mean_messages(const PolicyNetwork &network, const MessageLayers &layers, const ProblemRows &problem,
                                 const std::vector<float> &stages, size_t from, size_t to) {
    const size_t width = network.width(), num_edges = problem.edges.size() / 2;
    const auto num_stages = static_cast<size_t>(problem.num_stages);
    std::vector<float> sent = biased(layers.stage, num_stages);
    network.add(layers.stage, stages, sent);
    std::vector<float> messages;
    messages.reserve(num_edges * width);
    for (size_t edge = 0; edge < num_edges; edge++) {
        const auto sender = row_of(sent, width, static_cast<size_t>(problem.edges[2 * edge + from]));
        messages.insert(messages.end(), sender.begin(), sender.end());
    }
    if (!layers.edge.empty()) {
        network.add(layers.edge, problem.edge_features, messages);
    }
    std::vector<float> means(num_stages * width);
    std::vector<float> counts(num_stages);
    for (size_t edge = 0; edge < num_edges; edge++) {
        const auto receiver = static_cast<size_t>(problem.edges[2 * edge + to]);
        counts[receiver] += 1;
        std::ranges::transform(row_of(means, width, receiver), row_of(messages, width, edge),
                               row_of(means, width, receiver).begin(),
                               [](float sum, float message) { return sum + std::max(message, 0.0f); });
    }
    for (size_t stage = 0; stage < num_stages; stage++) {
        for (float &value : row_of(means, width, stage)) {
            value /= std::max(counts[stage], 1.0f);
        }
    }
    return means;
}

void normalize(std::span<float> row, const RoundLayers &layers) {
    constexpr double epsilon = 1e-5;
    const auto size = static_cast<double>(row.size());
    double sum = 0, squares = 0;
    for (const float value : row) {
        sum += static_cast<double>(value);
    }
    const double mean = sum / size;
    for (const float value : row) {
        const double deviation = static_cast<double>(value) - mean;
        squares += deviation * deviation;
    }
    const double scale = 1 / std::sqrt(squares / size + epsilon);
    for (size_t i = 0; i < row.size(); i++) {
        const auto normalized = static_cast<float>((static_cast<double>(row[i]) - mean) * scale);
        row[i] = normalized * layers.norm_scale[i] + layers.norm_bias[i];
    }
}

void exchange_messages(const PolicyNetwork &network, const RoundLayers &layers, const ProblemRows &problem,
                       std::vector<float> &stages) {
    const auto num_stages = static_cast<size_t>(problem.num_stages);
    std::vector<float> updates = biased(layers.own, num_stages);
    network.add(layers.own, stages, updates);
    network.add(layers.from_producers, mean_messages(network, layers.to_consumers, problem, stages, 0, 1), updates);
    network.add(layers.from_consumers, mean_messages(network, layers.to_producers, problem, stages, 1, 0), updates,
                Activation::Relu);
    std::ranges::transform(stages, updates, stages.begin(), std::plus());
    for (size_t stage = 0; stage < num_stages; stage++) {
        normalize(row_of(stages, network.width(), stage), layers);
    }
}

std::vector<float> encode(const PolicyNetwork &network, const ProblemRows &problem) {
    const auto num_stages = static_cast<size_t>(problem.num_stages);
    const PolicyLayers &layers = network.layers();
    std::vector<float> inputs = biased(layers.algorithm, num_stages);
    if (!layers.stage.empty()) {
        network.add(layers.stage, problem.stage_features, inputs);
    }
    network.add(layers.algorithm, problem.algorithm_features, inputs, Activation::Relu);
    std::vector<float> stages = biased(layers.stage_hidden, num_stages);
    network.add(layers.stage_hidden, inputs, stages, Activation::Relu);
    for (const RoundLayers &round : layers.rounds) {
        exchange_messages(network, round, problem, stages);
    }
    return stages;
}

// Mean and maximum of all stages.
std::vector<float> pool(std::vector<float> stages, size_t width) {
    const size_t num_stages = stages.size() / width;
    std::vector<float> pooled(2 * width);
    std::fill(pooled.begin() + static_cast<ptrdiff_t>(width), pooled.end(), -std::numeric_limits<float>::infinity());
    for (size_t stage = 0; stage < num_stages; stage++) {
        const auto row = row_of(stages, width, stage);
        for (size_t i = 0; i < width; i++) {
            pooled[i] += row[i] / static_cast<float>(num_stages);
            pooled[width + i] = std::max(pooled[width + i], row[i]);
        }
    }
    return pooled;
}

std::vector<float> products(const PolicyNetwork &network, const PolicyLayer &layer, const std::vector<float> &inputs) {
    std::vector<float> out(inputs.size() / layer.inputs * layer.width);
    network.add(layer, inputs, out);
    return out;
}

}  // namespace

EncodedProblem::EncodedProblem(const PolicyNetwork &network, const ProblemRows &problem)
    : num_stages(static_cast<size_t>(problem.num_stages)), stages(encode(network, problem)),
      context(network.layers().pooled.bias), blind_stages(products(network, network.layers().blind.stage, stages)),
      child_reading_stages(products(network, network.layers().child_reading.stage, stages)), consumers(num_stages) {
    network.add(network.layers().pooled, pool(stages, network.width()), context);
    for (size_t edge = 0; edge < problem.edges.size(); edge += 2) {
        consumers[static_cast<size_t>(problem.edges[edge])].push_back(problem.edges[edge + 1]);
    }
}

}  // namespace halidegym
