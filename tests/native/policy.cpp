// What a policy says of a decision and of a state is the same, bit for bit, for each instruction set and whatever else
// is asked for.

#include "policy/policy.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <random>

#include "example_problem.h"
#include "problem/error.h"

using namespace halidegym;

namespace {

using Shapes = std::map<std::string, std::vector<size_t>>;

void add_layer(Shapes &shapes, const std::string &name, size_t inputs, size_t outputs, bool has_bias = true) {
    shapes[name + ".weight"] = {outputs, inputs};
    if (has_bias) shapes[name + ".bias"] = {outputs};
}

Shapes shapes_of(const PolicyConfig &config) {
    const auto width = static_cast<size_t>(config.width);
    const size_t sent = width + (config.use_edge_features ? 8 : 0);
    Shapes shapes;
    add_layer(shapes, "algorithm", 280, 24, false);
    add_layer(shapes, "stage_input", config.use_stage_features ? 48 : 24, width);
    add_layer(shapes, "stage_hidden", width, width);
    for (int i = 0; i < config.rounds; i++) {
        const std::string round = "rounds." + std::to_string(i);
        add_layer(shapes, round + ".to_consumers", sent, width);
        add_layer(shapes, round + ".to_producers", sent, width);
        add_layer(shapes, round + ".update", 3 * width, width);
        shapes[round + ".norm.weight"] = shapes[round + ".norm.bias"] = {width};
    }
    add_layer(shapes, "context_layer", 7 * width + 3, width);
    for (const std::string head : {"blind", "child_reading"}) {
        add_layer(shapes, head + ".descriptor", (config.use_demands ? 29 : 18) + 3 * static_cast<size_t>(config.loops),
                  width);
        add_layer(shapes, head + ".stage", width, width, false);
        add_layer(shapes, head + ".context", width, width, false);
        add_layer(shapes, head + ".hidden", width, width);
        add_layer(shapes, head + ".logit", width, 1);
    }
    add_layer(shapes, "child_reading.child", 42, width, false);
    add_layer(shapes, "value_hidden", width + 2, width);
    add_layer(shapes, "value_output", width, 1);
    return shapes;
}

struct Arrays {
    Arrays(const Shapes &shapes, std::mt19937 &random) {
        std::normal_distribution<float> normal(0, 0.2f);
        for (const auto &[name, shape] : shapes) {
            std::vector<float> &array = values[name];
            size_t size = 1;
            for (const size_t extent : shape)
                size *= extent;
            std::ranges::generate_n(std::back_inserter(array), static_cast<ptrdiff_t>(size),
                                    [&] { return normal(random); });
            named.push_back({name, shape, array});
        }
    }

    std::map<std::string, std::vector<float>> values;
    std::vector<NamedArray> named;
};

SpaceRef space_of(const Problem &problem, std::mt19937 &random) {
    std::uniform_real_distribution<float> uniform(-0.2f, 0.2f);
    const auto network = std::make_shared<const Network>(weights_from([&] { return uniform(random); }));
    return std::make_shared<const Space>(std::make_shared<const Problem>(problem),
                                         std::make_shared<const CostModel>(problem, network));
}

void expect_same(const std::string &what, std::span<const float> actual, std::span<const float> expected) {
    expect(what, std::ranges::equal(actual, expected, [](float a, float b) {
               return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
           }));
}

std::vector<float> copy(std::span<const float> values) {
    return {values.begin(), values.end()};
}

ChildRows some_rows(const ChildRows &rows, size_t first, size_t count) {
    const auto begin = rows.rows.begin() + static_cast<ptrdiff_t>(first * num_child_features);
    return {{begin, begin + static_cast<ptrdiff_t>(count * num_child_features)}, {}};
}

// One after the other, and a third of them at once.
void test_parts(const Policy &policy, Expansion &expansion, const ChildRows &children, std::span<const float> blind,
                std::span<const float> reading) {
    const auto decisions = expansion.decisions();
    Policy::Scratch scratch;
    const auto test = [&](size_t first, size_t count) {
        const auto part = decisions.subspan(first, count);
        expect_same("blind, a part", policy.blind_logits(expansion, part, scratch), blind.subspan(first, count));
        expect_same("child-reading, a part",
                    policy.child_logits(expansion, part, some_rows(children, first, count), scratch),
                    reading.subspan(first, count));
    };
    for (size_t i = 0; i < decisions.size(); i += 1 + decisions.size() / 20) {
        test(i, 1);
    }
    test(decisions.size() / 3, (decisions.size() + 2) / 3);
}

void test_states(const std::string &name, const Problem &problem, const PolicyConfig &config) {
    std::mt19937 random(1);
    const Arrays arrays(shapes_of(config), random);
    const SpaceRef space = space_of(problem, random);
    std::vector<Policy> policies;
    for (const InstructionSet set : available_instruction_sets()) {
        policies.emplace_back(std::make_shared<const PolicyNetwork>(config, arrays.named, set), space);
    }
    State state(space);
    for (int step = 0; !state.is_complete(); step++) {
        const std::string what = name + ", step " + std::to_string(step);
        Expansion expansion(state);
        ChildRows children = ChildReader(space).read(expansion, expansion.decisions(), 1);
        Policy::Scratch scratch;
        const std::vector<float> blind = copy(policies[0].blind_logits(expansion, expansion.decisions(), scratch));
        const std::vector<float> reading =
            copy(policies[0].child_logits(expansion, expansion.decisions(), children, scratch));
        const float value = policies[0].value(state, 0.5, scratch);
        expect(what + ": decisions differ",
               blind.size() == 1 || std::ranges::adjacent_find(blind, std::not_equal_to()) != blind.end());
        test_parts(policies.back(), expansion, children, blind, reading);
        for (size_t i = 0; i < children.costs.size(); i++) {
            children.rows[i * num_child_features] = 7;  // a greedy schedule's cost is not looked at
        }
        for (const Policy &policy : policies) {
            expect_same(what + ": blind", policy.blind_logits(expansion, expansion.decisions(), scratch), blind);
            expect_same(what + ": child-reading",
                        policy.child_logits(expansion, expansion.decisions(), children, scratch), reading);
            expect_equal(what + ": value", policy.value(state, 0.5, scratch), value);
        }
        state = expansion.child(expansion.decisions()[random() % expansion.decisions().size()]);
    }
}

template <typename Change>
void expect_refused(const std::string &reason, const PolicyConfig &config, const Change &change) {
    std::mt19937 random(2);
    Arrays arrays(shapes_of({}), random);
    change(arrays);
    try {
        const PolicyNetwork network(config, arrays.named);
        expect("refused: " + reason, false);
    } catch (const InvalidParameter &error) {
        expect(std::string(error.what()) + " has: " + reason,
               std::string(error.what()).find(reason) != std::string::npos);
    }
}

void test_what_is_refused() {
    const auto nothing = [](Arrays &) {};
    expect_refused("no array algorithm.weight of shape [24, 280]", {},
                   [](Arrays &a) { a.named.erase(a.named.begin()); });
    expect_refused("blind.hidden.bias of the policy has values that are not finite", {},
                   [](Arrays &a) { a.values["blind.hidden.bias"][3] = std::numeric_limits<float>::quiet_NaN(); });
    expect_refused("has the shape [64, 48], the network needs [32, 48]", {.width = 32}, nothing);
    expect_refused("no array rounds.2.norm.bias", {.rounds = 2}, nothing);
    expect_refused("width=40 of a policy's network; give a multiple of 16", {.width = 40}, nothing);
    expect_refused("rounds=17", {.rounds = 17}, nothing);
}

}  // namespace

int main() {
    test_states("blur", blur_problem(8, 8), {});
    test_states("matrix product", matrix_product_problem(8),
                {.width = 48, .rounds = 1, .use_edge_features = false, .use_demands = false});
    test_states("histogram", histogram_problem(8), {.loops = 2, .use_stage_features = false});
    test_what_is_refused();
    return failures == 0 ? 0 : 1;
}
