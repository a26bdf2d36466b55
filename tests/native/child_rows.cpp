// A child that is looked at as what makes it differ from its parent has the features, the cost and the hash that it has
// when it is built and looked at by itself.

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cost/nest_table.h"
#include "example_problem.h"
#include "nest/hash.h"
#include "nest/nest_maker.h"
#include "observation/child_rows.h"
#include "search/spaces/schedule_space.h"
#include "search/spaces/splitmix.h"
#include "state/evaluator.h"
#include "state/state.h"

using namespace halidegym;

namespace {

// Small, so that costs tell rows apart instead of overflowing.
std::shared_ptr<const Network> random_network(std::mt19937 &random) {
    std::uniform_real_distribution<float> uniform(-0.2F, 0.2F);
    return std::make_shared<const Network>(weights_from([&] { return uniform(random); }));
}

// Producers with several consumers, an update stage, and a Func that is inlined into several blocks.
Problem mixed_problem(int parallelism) {
    ExampleProblem example(parallelism);
    example.output("o", {"x", "y"}, 8, {701, 331});
    const int a = example.func("a", {"x", "y"}, 8);
    const int s = example.func("s", {"x", "y"}, 8);
    const int update = example.update({{1, 99}}, {0}, 8);
    const int g = example.func("g", {"x", "y"}, 8);
    const int h = example.func("h", {"x", "y"}, 8);
    const int image = example.input("I_im", {"_0", "_1"}, 8);
    example.edge(a, 0, 2, {{.loop = 0}, {.loop = 1, .low = -1, .high = 1}});
    example.edge(s, 0, 1, {{.loop = 0}, {.loop = 1}});
    example.edge(g, example.node(a).first_stage, 2, {{.loop = 0, .low = -1, .high = 1}, {.loop = 1}});
    example.edge(g, example.node(s).first_stage, 1, {{.loop = 1}, {.loop = 0}});
    example.edge(g, update, 1, {{.loop = 1}, {.loop = 0}});
    example.edge(h, example.node(g).first_stage, 2, {{.loop = 0, .stride = 2, .high = 1}, {.loop = 1}});
    example.edge(image, example.node(h).first_stage, 1, {{.loop = 0}, {.loop = 1}});
    return example.build();
}

// Any Func may read any of the later ones, each of which has a reader: presumed sites depend on each other over several
// steps.
Problem tangled_problem(int parallelism, std::mt19937 &random) {
    constexpr int num_funcs = 18;
    ExampleProblem example(parallelism);
    const auto below = [&](size_t bound) { return static_cast<int>(random() % bound); };
    std::vector<std::vector<int>> stages(num_funcs);
    for (int i = 0; i < num_funcs; i++) {
        const std::string name = "f" + std::to_string(i);
        const int id = i == 0               ? example.output(name, {"x", "y"}, 8, {96, 64})
                       : i + 1 == num_funcs ? example.input(name, {"x", "y"}, 8)
                                            : example.func(name, {"x", "y"}, 8);
        stages[static_cast<size_t>(i)] = {example.node(id).first_stage};
        if (i > 0 && i + 1 < num_funcs && below(4) == 0) {
            stages[static_cast<size_t>(i)].push_back(example.update({{0, 4}}, {0, 1}, 8));
        }
    }
    const auto read = [&](int producer, int consumer) {
        const auto &of_consumer = stages[static_cast<size_t>(consumer)];
        const int stage = of_consumer[random() % of_consumer.size()];
        const int x = stage == of_consumer.front() ? 0 : 1;
        const bool transposed = below(6) == 0;
        const int reach = below(3);
        example.edge(producer, stage, 1 + below(3),
                     {{.loop = transposed ? x + 1 : x, .low = -reach, .high = reach},
                      {.loop = transposed ? x : x + 1, .high = below(2)}});
    };
    for (int producer = 1; producer < num_funcs; producer++) {
        const int first = below(static_cast<size_t>(producer));
        read(producer, first);
        for (int consumer = 0; consumer < producer; consumer++) {
            if (consumer != first && below(4) == 0) read(producer, consumer);
        }
    }
    return example.build();
}

void expect_same(const std::string &what, const Problem &problem, const FeatureTable &actual,
                 const FeatureTable &expected) {
    expect(what + ": stages", actual.stages == expected.stages);
    for (const int stage : expected.stages) {
        const FeatureRow &row = actual.row(stage);
        const FeatureRow &of_expected = expected.row(stage);
        for (size_t i = 0; i < row.size(); i++) {
            if (row[i] == of_expected[i]) continue;
            expect_equal(what + ": " + std::string(schedule_feature_names[i]) + " of " +
                             problem.stages[static_cast<size_t>(stage)].name,
                         row[i], of_expected[i]);
        }
    }
}

// Looks at the children of every state on the way down to a complete one.
class Walk {
public:
    enum class Style {
        Random,
        Deep,    // computes Funcs inside of others wherever that is possible
        Greedy,  // goes where costs are least, but for some random steps
    };

    Walk(std::string what, SpaceRef space, uint32_t seed)
        : what_(std::move(what)), space_(std::move(space)), table_(space_->feature_constants), evaluator_(space_),
          random_(seed) {}

    void run(Style style) {
        State state(space_);
        while (!state.is_complete()) {
            Expansion expansion(state);
            table_.start(*state.nest());
            std::vector<std::optional<double>> costs;
            for (const Decision &decision : expansion.decisions()) {
                costs.push_back(check(expansion, decision));
            }
            if (costs.empty()) return;
            check_backwards(expansion, costs);
            state = expansion.child(expansion.decisions()[choose(style, expansion.decisions(), costs)]);
        }
    }

private:
    size_t choose(Style style, std::span<const Decision> decisions, std::span<const std::optional<double>> costs) {
        if (style == Style::Greedy && random_() % 8 != 0) {
            return static_cast<size_t>(std::ranges::min_element(costs) - costs.begin());
        }
        std::vector<size_t> inside;
        for (size_t i = 0; i < decisions.size(); i++) {
            if (decisions[i].depth > 0) inside.push_back(i);
        }
        return style == Style::Deep && !inside.empty() ? inside[random_() % inside.size()]
                                                       : random_() % decisions.size();
    }

    // Its cost, if it is within limits.
    std::optional<double> check(Expansion &expansion, const Decision &decision) {
        const State &parent = expansion.state();
        const std::string what = what_ + ", decision " + std::to_string(static_cast<int>(decision.kind)) + " about " +
                                 parent.next_func().name;
        const State built = expansion.child(decision);
        bench_.clear();
        const Level &seen = *expansion.child_nest(bench_, decision);

        table_.look_at(seen);
        NestTable table(space_->feature_constants);
        table.start(*built.nest());
        expect_same(what, *space_->problem, table_.table(), table.table());
        expect_equal(what + ": most inlined calls", table_.most_inlined_calls(), table.most_inlined_calls());

        const bool is_accepted = evaluator_.accepts_child(parent.nest(), seen);
        const auto rated = evaluator_.cost_of_child(parent.nest(), seen);
        const auto cost = Evaluator(space_).cost(built.nest());
        expect(what + ": cost", rated == cost);
        expect(what + ": accepted", is_accepted == cost.has_value());

        for (const int depth : {0, 2, 5}) {
            expect(what + ": hash", structural_hash(seen, built.num_decisions_made(), depth) == built.hash(depth));
        }
        return cost;
    }

    // What siblings and another parent left behind makes no difference.
    void check_backwards(Expansion &expansion, std::span<const std::optional<double>> costs) {
        const LevelRef &parent = expansion.state().nest();
        evaluator_.cost(space_->empty_nest);
        for (size_t i = costs.size(); i-- > 0;) {
            bench_.clear();
            const auto cost = evaluator_.cost_of_child(parent, *expansion.child_nest(bench_, expansion.decisions()[i]));
            expect(what_ + ": cost in another order", cost == costs[i]);
        }
    }

    std::string what_;
    SpaceRef space_;
    NestTable table_;
    Evaluator evaluator_;
    Workbench bench_;
    std::mt19937 random_;
};

void test(const std::string &what, Problem problem, uint32_t seed) {
    std::mt19937 random(seed);
    const auto shared = std::make_shared<const Problem>(std::move(problem));
    const auto model = std::make_shared<const CostModel>(*shared, random_network(random));
    std::vector<Space> spaces = {Space(shared, model), Space(shared, model, {.subtiling = false}),
                                 Space(shared, model, {.memory_limit = 60'000}), Space(shared, model)};
    // The last one leads to nests that exceed limits.
    std::ranges::fill(spaces.back().points_limit, std::numeric_limits<double>::infinity());
    for (const Space &space : spaces) {
        Walk walk(what, std::make_shared<const Space>(space), seed);
        for (const auto style : {Walk::Style::Random, Walk::Style::Deep, Walk::Style::Greedy}) {
            walk.run(style);
        }
    }
}

// What is read of the states of walks, which end before the reader does and leave their memory to later ones.
void test_reader_of_walks(const Problem &made, uint32_t seed) {
    std::mt19937 random(seed);
    const auto problem = std::make_shared<const Problem>(made);
    const auto space =
        std::make_shared<const Space>(problem, std::make_shared<const CostModel>(*problem, random_network(random)));
    ScheduleSpace schedules(space);
    ChildReader kept(space);
    SplitMix64 draws(seed);
    for (int walk = 0; walk < 1000; walk++) {
        State state = schedules.root();
        schedules.start_walk(state);
        while (!state.is_complete()) {
            auto children = schedules.children_of_walk(state);
            const auto decision = schedules.random_decision(children, draws);
            if (!decision) {
                break;
            }
            if (random() % 4 == 0) {
                ChildReader fresh(space);
                const auto read = [&](ChildReader &reader) {
                    Expansion expansion = schedules.unlisted_children_to_rate(children.state());
                    return reader.read(expansion, std::span(&*decision, 1), 1.0).rows;
                };
                expect("rows of a child on a walk", read(kept) == read(fresh));
            }
            state = schedules.next_of_walk(std::move(state), children, *decision);
        }
    }
}

}  // namespace

int main() {
    test_reader_of_walks(mixed_problem(16), 5);
    for (const int parallelism : {1, 2, 16}) {
        const std::string on = " on " + std::to_string(parallelism) + " cores";
        test("blur" + on, blur_problem(parallelism, 16), 1);
        test("matrix product" + on, matrix_product_problem(parallelism), 2);
        test("histogram" + on, histogram_problem(parallelism), 3);
        test("mixed" + on, mixed_problem(parallelism), 4);
        for (uint32_t seed = 10; seed < 14; seed++) {
            std::mt19937 random(seed);
            test("tangle " + std::to_string(seed) + on, tangled_problem(parallelism, random), seed);
        }
    }
    return failures == 0 ? 0 : 1;
}
