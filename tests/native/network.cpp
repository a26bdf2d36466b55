#include "cost/network.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "example_problem.h"

// A row costs the same, bit for bit, whatever the instruction set, the size of the batch, and what was kept of it.
// Sections and quirks are those of docs/specification/search-and-cost-model.md.

using namespace halidegym;

namespace {

constexpr int parallelism = 12;
constexpr size_t most_rows = 40;

struct Case {
    std::vector<FeatureRow> rows;
    std::vector<AlgorithmPart> algorithm;
};

// Over many magnitudes, with the numbers that select the cases of the formula and some that no schedule has.
double random_feature(std::mt19937 &random, bool extreme) {
    constexpr std::array<double, 8> ends = {1e38, 3e38, 1e39, 1e-39, 1e-45, -0.0, -0.5, 8388608.5};
    std::uniform_real_distribution<double> uniform(0, 1);
    const double kind = uniform(random);
    if (kind < 0.2) return kind < 0.1 ? 0 : 1;
    if (extreme && kind < 0.25) return ends[random() % ends.size()];
    const double value = std::exp(17 * uniform(random));
    return kind < 0.6 ? std::floor(value) : value;
}

Weights random_weights(std::mt19937 &random) {
    std::normal_distribution<float> normal;
    return weights_from([&] { return normal(random); });
}

Case random_case(std::mt19937 &random, const Network &network, bool extreme) {
    Case result;
    for (size_t i = 0; i < most_rows; i++) {
        FeatureRow row;
        for (double &value : row) {
            value = random_feature(random, extreme);
        }
        row[feature::inlined_calls] *= random() % 3 == 0 ? 1 : 0;
        result.rows.push_back(row);
        std::array<float, AlgorithmFeatures::extent> counts;
        for (float &count : counts) {
            count = static_cast<float>(random() % 20);
        }
        result.algorithm.push_back(network.algorithm_part(counts));
    }
    return result;
}

std::vector<KeptRow> keep(const Network &network, std::span<const FeatureRow> rows) {
    std::vector<KeptRow> kept(rows.size());
    std::vector<const FeatureRow *> from;
    std::vector<KeptRow *> to;
    for (size_t i = 0; i < rows.size(); i++) {
        from.push_back(&rows[i]);
        to.push_back(&kept[i]);
    }
    network.keep(from, to);
    return kept;
}

// Of the first rows, with the working sets of `rows` and all else as kept. Every third one is as in the first stage.
std::vector<float> rate(const Network &network, std::span<const KeptRow> kept, const Case &of, size_t first,
                        size_t count) {
    std::vector<RatedRow> rated;
    for (size_t i = first; i < first + count; i++) {
        rated.push_back({&kept[i], &of.algorithm[i], i % 3 == 0, working_sets(of.rows[i])});
    }
    std::vector<float> costs(count);
    network.rate(rated, parallelism, costs);
    return costs;
}

std::vector<float> one_by_one(const Network &network, const Case &of) {
    std::vector<float> costs;
    for (size_t i = 0; i < of.rows.size(); i++) {
        std::vector<KeptRow> kept(of.rows.size());
        kept[i] = keep(network, std::span(of.rows).subspan(i, 1)).front();
        costs.push_back(rate(network, kept, of, i, 1).front());
    }
    return costs;
}

bool equal(float a, float b) {
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

void expect_same(const std::string &what, std::span<const float> costs, std::span<const float> expected) {
    bool same = true;
    for (size_t i = 0; i < costs.size(); i++) {
        same = same && equal(costs[i], expected[i]);
    }
    expect(what, same);
}

// The rows of `of`, and then the same ones with other working sets.
void test_batches(const std::string &what, const Network &network, const Case &of, std::span<const float> expected,
                  const Case &changed, std::span<const float> expected_of_changed) {
    for (size_t count = 1; count <= most_rows; count++) {
        const std::string batch = what + ", " + std::to_string(count) + " rows";
        const std::vector<KeptRow> kept = keep(network, std::span(of.rows).first(count));
        expect_same(batch, rate(network, kept, of, 0, count), expected);
        expect_same(batch + " again", rate(network, kept, changed, 0, count), expected_of_changed);
        expect_same(batch + ", the last ones", rate(network, kept, of, count / 2, count - count / 2),
                    expected.subspan(count / 2));
    }
}

void test_instruction_sets(bool extreme) {
    std::mt19937 random(extreme ? 1 : 2);
    for (int repetition = 0; repetition < 10; repetition++) {
        const Weights weights = random_weights(random);
        const Network baseline(weights, InstructionSet::Baseline);
        const Case of = random_case(random, baseline, extreme);
        Case changed = of;
        for (FeatureRow &row : changed.rows) {
            for (size_t i = num_local_features; i < num_schedule_features; i++) {
                row[i] = random_feature(random, extreme);
            }
        }
        const std::vector<float> expected = one_by_one(baseline, of);
        const std::vector<float> expected_of_changed = one_by_one(baseline, changed);
        expect("some costs are numbers", std::ranges::any_of(expected, [](float cost) { return cost > 0; }));
        for (const InstructionSet set : available_instruction_sets()) {
            const std::string what = "instruction set " + std::to_string(static_cast<int>(set));
            test_batches(what, Network(weights, set), of, expected, changed, expected_of_changed);
        }
    }
}

// The cost of a state is the sum in the model's order.
void test_cost_of_a_state() {
    std::mt19937 random(3);
    const Network network(random_weights(random));
    const Case of = random_case(random, network, false);
    std::vector<const FeatureRow *> rows;
    float sum = 0;
    for (size_t i = 0; i < most_rows; i++) {
        rows.push_back(&of.rows[i]);
        const KeptRow kept = keep(network, std::span(of.rows).subspan(i, 1)).front();
        float cost = 0;
        const RatedRow rated = {&kept, &of.algorithm[i], i == 0, working_sets(of.rows[i])};
        network.rate(std::span(&rated, 1), parallelism, std::span(&cost, 1));
        sum += cost;
        expect("cost of " + std::to_string(i + 1) + " stages",
               equal(network.cost(std::span(of.algorithm).first(i + 1), rows, parallelism), sum));
    }
}

}  // namespace

int main() {
    test_instruction_sets(false);
    test_instruction_sets(true);
    test_cost_of_a_state();
    return failures == 0 ? 0 : 1;
}
