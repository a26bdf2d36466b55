// What a Func requires past Funcs that only pass it on is what it requires of each of these.

#include "problem/bound_rules.h"

#include <algorithm>
#include <vector>

#include "example_problem.h"
#include "nest/regions.h"

using namespace halidegym;

namespace {

// The same Funcs, none of which is passed by.
Problem without_shortcuts(Problem problem) {
    for (Node &node : problem.nodes) {
        for (auto &consumer : node.bound_rules.consumers) {
            consumer.beyond.clear();
        }
    }
    return problem;
}

size_t num_shortcuts(const Problem &problem, int node) {
    const auto &consumers = problem.nodes[static_cast<size_t>(node)].bound_rules.consumers;
    size_t count = 0;
    for (const auto &consumer : consumers) {
        count += consumer.beyond.size();
    }
    return count;
}

bool is_upstream(const Problem &problem, int node, int of) {
    return node == of || node_bits::contains(problem.stage(problem.nodes[static_cast<size_t>(of)], 0).upstream, node);
}

// At the root, and in tiles of each Func, whose extents are constant or not.
void expect_equal_bounds(const std::string &what, const Problem &problem) {
    const Problem plain = without_shortcuts(problem);
    const auto expect_same = [&](const Regions &regions, const Regions &others, int of) {
        for (const Node &node : problem.nodes) {
            if (of >= 0 && !is_upstream(problem, node.id, of)) continue;
            expect(what + ": " + node.name,
                   std::ranges::equal(regions.of(node.id).spans(), others.of(node.id).spans()) &&
                       regions.of(node.id).volume_computed() == others.of(node.id).volume_computed());
        }
    };
    const Regions root(problem);
    const Regions other_root(plain);
    expect_same(root, other_root, -1);
    for (const Stage &stage : problem.stages) {
        for (const bool constant : {true, false}) {
            std::vector<Span> loops;
            for (int64_t i = 0; i < std::ssize(stage.loops); i++) {
                loops.push_back({7 + i, 20 + 3 * i, constant || i > 0});
            }
            // The farthest is asked first, before any between is known.
            const Regions regions(problem, stage, root.of(stage.node), loops);
            const Regions others(plain, plain.stages[static_cast<size_t>(stage.id)], other_root.of(stage.node), loops);
            regions.of(is_upstream(problem, problem.num_nodes() - 1, stage.node) ? problem.num_nodes() - 1
                                                                                 : stage.node);
            expect_same(regions, others, stage.node);
        }
    }
}

void test_chain() {
    ExampleProblem example(16);
    const int out = example.output("out", {"x", "y"}, 8, {640, 480});
    const int transposed = example.func("transposed", {"y", "x"}, 8);
    example.edge(transposed, out, 3,
                 {{.loop = 1, .low = -1, .high = 1}, {.loop = 0, .stride = 2, .low = 3, .high = 4}});
    const int mirrored = example.func("mirrored", {"x", "y"}, 8);
    Edge &mirror =
        example.edge(mirrored, transposed, 1, {{.loop = 1, .stride = -1, .low = 640, .high = 640}, {.loop = 0}});
    std::swap(mirror.bounds[0].of_max, mirror.bounds[1].of_max);
    const int row = example.func("row", {"x"}, 8);
    example.edge(row, mirrored, 2, {{.loop = 0, .low = -2, .high = 5}});
    const int one = example.func("one", {"k"}, 8);
    example.constant_edge(one, row, 1, 4, 9);
    const int last = example.func("last", {"k"}, 8);
    example.edge(last, one, 1, {{.loop = 0, .stride = 3}});
    const Problem problem = example.build();
    expect_equal("past one", num_shortcuts(problem, mirrored), 1u);
    expect_equal("past two", num_shortcuts(problem, row), 2u);
    expect_equal("past all", num_shortcuts(problem, last), 4u);
    expect_equal_bounds("chain", problem);

    const Regions root(problem);
    root.of(last);
    expect("Funcs between are not asked", root.known(one) == nullptr && root.known(transposed) == nullptr);
}

// Of a long chain, some of the nearest will do.
void test_long_chain() {
    ExampleProblem example(16);
    int consumer = example.output("out", {"x"}, 8, {640});
    for (int i = 0; i < 200; i++) {
        const int func = example.func("f" + std::to_string(i), {"x"}, 8);
        example.edge(func, consumer, 1, {{.loop = 0, .low = -1, .high = 2}});
        consumer = func;
    }
    const Problem problem = example.build();
    expect_equal("all", num_shortcuts(problem, 3), 2u);
    expect("some", num_shortcuts(problem, 200) > 2 && num_shortcuts(problem, 200) < 20);
    expect_equal_bounds("long chain", problem);
}

// Regions that are more than what one consumer requires, or that are no sums.
void test_what_is_not_passed_by() {
    ExampleProblem example(16);
    const int out = example.output("out", {"x", "y"}, 8, {640, 480});
    const int once = example.func("once", {"x", "y"}, 8);
    example.edge(once, out, 1, {{.loop = 0, .low = -5}, {.loop = 1}});
    const int twice = example.func("twice", {"x", "y"}, 8);
    example.edge(twice, out, 1, {{.loop = 0, .high = 2}, {.loop = 1}});
    example.edge(twice, once, 1, {{.loop = 0}, {.loop = 1, .low = -7}});
    const int clamped = example.func("clamped", {"x", "y"}, 8);
    example.clamp(example.edge(clamped, twice, 1, {{.loop = 0}, {.loop = 1}}), 639);
    const int summed = example.func("summed", {"x"}, 8);
    example.edge(summed, clamped, 1, {{.loop = 0, .low = -1}});
    example.update({{0, 9}}, {0}, 8);
    const int image = example.func("image", {"x", "y"}, 8);
    example.edge(image, example.node(summed).first_stage + 1, 1, {{.loop = 1}, {.loop = 0, .stride = 4}});
    const Problem problem = example.build();
    expect_equal("past the one with a single consumer", num_shortcuts(problem, twice), 1u);
    expect_equal("not past two consumers", num_shortcuts(problem, clamped), 0u);
    expect_equal("not past what is clamped", num_shortcuts(problem, summed), 0u);
    expect_equal("not past updates", num_shortcuts(problem, image), 0u);
    expect_equal_bounds("no chain", problem);
}

// An output has the region that its estimate says, whatever else reads it.
void test_outputs() {
    ExampleProblem example(16);
    const int first = example.output("first", {"x"}, 8, {100});
    const int second = example.output("second", {"x"}, 8, {1000});
    example.edge(second, first, 1, {{.loop = 0, .high = 3}});
    const int input = example.func("input", {"x"}, 8);
    example.edge(input, second, 1, {{.loop = 0, .low = -1, .high = 1}});
    const Problem problem = example.build();
    expect_equal("not past an output", num_shortcuts(problem, input), 0u);
    expect_equal_bounds("outputs", problem);
}

}  // namespace

int main() {
    test_chain();
    test_long_chain();
    test_what_is_not_passed_by();
    test_outputs();
    return failures == 0 ? 0 : 1;
}
