// Bound records that are remembered are those that a level derives itself, and are not derived again.

#include "cost/distant_bounds.h"

#include <algorithm>

#include "example_problem.h"

using namespace halidegym;

namespace {

constexpr int output = 0;
constexpr int first = 1;  // of the chain
constexpr int image = 13;

// An output that reads the first Func of a chain, and of the image at the chain's end what the chain does not read.
Problem chain_problem() {
    ExampleProblem example(16);
    int consumer = example.output("out", {"x", "y"}, 8, {1024, 1024});
    while (consumer + 1 < image) {
        const int func = example.func("f" + std::to_string(consumer), {"x", "y"}, 8);
        const int64_t reach = func == first ? 0 : 1;
        example.edge(func, consumer, 1, {{.loop = 0, .low = -reach, .high = reach}, {.loop = 1, .high = reach}});
        consumer = func;
    }
    example.func("image", {"x", "y"}, 8);
    example.edge(image, output, 1, {{.loop = 0, .stride = 2}, {.loop = 1, .low = -20}});
    example.edge(image, consumer, 1, {{.loop = 0}, {.loop = 1, .high = 2}});
    return example.build();
}

// Of a Func that is computed at the root.
Level tile_of(const Problem &problem, int node, const Extents &trips) {
    const Level root = with_computed(problem, *empty_nest(problem), node);
    return split(problem, *root.children[0], root, trips);
}

// Asks at a new level; returns whether that had to derive the record.
bool must_derive(DistantBounds &bounds, const Problem &problem, int node, const Extents &trips, int of) {
    const Level level = tile_of(problem, node, trips);
    const Bound &bound = bounds.of(level, of);
    const bool is_derived = level.regions->known(of) != nullptr;
    const Level other = tile_of(problem, node, trips);
    expect("record of " + problem.nodes[static_cast<size_t>(of)].name,
           std::ranges::equal(bound.spans(), other.regions->of(of).spans()) &&
               bound.volume_computed() == other.regions->of(of).volume_computed());
    return is_derived;
}

void test_same_loops() {
    const Problem problem = chain_problem();
    DistantBounds bounds(problem);
    expect("new", must_derive(bounds, problem, output, {4, 8}, image));
    expect("the same", !must_derive(bounds, problem, output, {4, 8}, image));
    expect("another tiling", must_derive(bounds, problem, output, {8, 4}, image));
    expect("another Func", must_derive(bounds, problem, output, {4, 8}, image - 1));
    expect("another stage, with these loops", must_derive(bounds, problem, first, {4, 8}, image));
    expect("the first", !must_derive(bounds, problem, output, {4, 8}, image));
}

void test_near_funcs() {
    const Problem problem = chain_problem();
    DistantBounds bounds(problem);
    for (int i = 0; i < 2; i++) {
        expect("one Func between", must_derive(bounds, problem, output, {4, 8}, first + 1));
        expect("at the root", bounds.of(*empty_nest(problem), image).volume_computed() > 0);
    }
}

// More than are remembered.
void test_many_loops() {
    const Problem problem = chain_problem();
    DistantBounds bounds(problem);
    int derived = 0;
    for (int round = 0; round < 2; round++) {
        for (int x = 1; x <= 32; x++) {
            for (int y = 1; y <= 32; y++) {
                derived += must_derive(bounds, problem, output, {x, y}, image);
            }
        }
    }
    expect("some are derived again", derived > 1024);
}

}  // namespace

int main() {
    test_same_loops();
    test_near_funcs();
    test_many_loops();
    return failures == 0 ? 0 : 1;
}
