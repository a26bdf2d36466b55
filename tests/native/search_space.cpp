// The decisions of a state against the tables and test vectors of sections 9, 15 and 18 and of
// docs/specification/search-and-cost-model.md, sections 1.4 and 2.4. Sections and quirks are those of
// docs/specification/search-space.md.

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "cost/limits.h"
#include "cost/nest_table.h"
#include "example_problem.h"
#include "nest/edits.h"
#include "nest/hash.h"
#include "nest/tilings.h"
#include "state/state.h"

using namespace halidegym;

namespace {

std::vector<Extents> one_dimensional(std::initializer_list<int64_t> trips) {
    std::vector<Extents> result;
    for (const int64_t t : trips) {
        result.push_back({t});
    }
    return result;
}

// Section 9. A last dimension has no trivial choices, so the generic list shows behind a leading dimension of two.
void test_tilings() {
    const std::map<int64_t, std::vector<int64_t>> generic{
        {6, {6, 3, 1, 2}},
        {7, {7, 4, 2, 1}},
        {9, {9, 5, 1, 2, 3}},
        {17, {17, 9, 1, 2, 6}},
        {100, {100, 50, 25, 13, 7, 1, 2, 34}},
        {1000, {1000, 500, 250, 125, 63, 32, 16, 8, 4, 2, 1, 334}},
    };
    for (const auto &[n, choices] : generic) {
        std::vector<Extents> expected;
        for (const int64_t choice : choices) {
            for (const int64_t last : {2, 1}) {
                if (!(choice == n && last == 2) && !(choice == 1 && last == 1)) {
                    expected.push_back({choice, last});
                }
            }
        }
        expect("tilings of " + std::to_string(n), tilings({n, 2}) == expected);
    }
    expect("one dimension", tilings({128}) == one_dimensional({64, 32, 16, 8, 4, 2, 43}));
    expect_equal("number of tilings", tilings({128, 16}).size(), 52u);
    // 12 * 12 * 5 prefixes leave the last dimension only 8 and 1.
    expect_equal("coarser after many prefixes", tilings({1000, 1000, 8, 8}).size(), 720u * 2 - 2);
    expect("no loops", tilings({}) == std::vector<Extents>{Extents{}});
}

void test_whole_loop_tilings() {
    const auto whole = [](const Extents &size) {
        std::vector<Extents> result;
        for (int64_t i = 0; i < num_whole_loop_tilings(size); i++) {
            result.push_back(whole_loop_tiling(size, i));
        }
        return result;
    };
    expect("no loops", whole({}) == std::vector<Extents>{Extents{}});
    expect("outermost size 1", whole({4, 1}) == std::vector<Extents>{{4, 1}});
    expect("three", whole({4, 4, 1}) == std::vector<Extents>{{1, 4, 1}, {4, 1, 1}, {4, 4, 1}});
    expect("two", whole({4, 4}) == std::vector<Extents>{{1, 4}, {4, 1}});
    expect("nothing to split", whole({1, 1}).empty());
}

SpaceRef blur_space(int parallelism, int lanes) {
    return std::make_shared<const Space>(std::make_shared<const Problem>(blur_problem(parallelism, lanes)), nullptr);
}

State take(const State &state, size_t index) {
    Expansion expansion(state);
    return expansion.child(expansion.decisions()[index]);
}

size_t count(const State &state) {
    return Expansion(state).decisions().size();
}

// All options of a placement, whether they compute too much or not, and those that do not.
std::pair<std::vector<Decision>, std::vector<Decision>> placements(const State &state) {
    Space unlimited = state.space();
    std::ranges::fill(unlimited.points_limit, std::numeric_limits<double>::infinity());
    const auto enumerate = [&](const Space &space) {
        return Placements(space, *state.nest(), state.next_func()).enumerate();
    };
    return {enumerate(unlimited), enumerate(state.space())};
}

// Section 17.3: tilings without a list of them.
void test_level_tilings() {
    const SpaceRef space = blur_space(16, 16);
    for (const Extents &size : {Extents{}, Extents{1}, Extents{128}, Extents{1, 1}, Extents{6, 1}, Extents{1, 9, 24},
                                Extents{100, 100, 8, 3}, Extents{300, 5, 7, 2, 4}}) {
        Level level;
        level.size = size;
        const LevelTilings counted(*space->tables, level);
        const auto listed = tilings(size);
        expect_equal("number of tilings", counted.size(), listed.size());
        int64_t splits = 0;
        for (size_t i = 0; i < listed.size(); i++) {
            expect("its trips", counted.outer(i) == listed[i]);
            expect_equal("splits before it", counted.splits_before(i), splits);
            const int64_t own = num_whole_loop_tilings(inner_trips(size, listed[i]));
            for (const int64_t others : {1, 2}) {
                const int64_t begin = static_cast<int64_t>(i) * others + splits;
                for (int64_t candidate = begin; candidate < begin + others + own; candidate++) {
                    const auto share = counted.share_of(candidate, others);
                    expect("its candidates", share.place == i && share.begin == begin && share.size == others + own);
                }
            }
            splits += own;
        }
        expect_equal("all splits", counted.splits_before(listed.size()), splits);
    }
}

// Section 18: phase 1 of the blur's output, in the order that an unstable sort leaves.
void test_parallel_options() {
    const std::vector<Extents> expected{{32, 3},  {1, 16},  {16, 2}, {16, 4}, {16, 8}, {16, 16}, {16, 3},  {32, 1},
                                        {32, 2},  {32, 4},  {32, 8}, {16, 1}, {64, 1}, {64, 2},  {64, 4},  {64, 3},
                                        {128, 1}, {128, 2}, {3, 16}, {3, 32}, {3, 64}, {4, 4},   {1, 32},  {1, 64},
                                        {1, 128}, {1, 256}, {2, 8},  {2, 16}, {2, 32}, {2, 64},  {2, 128}, {4, 8},
                                        {4, 16},  {4, 32},  {4, 64}, {8, 2},  {8, 4},  {8, 8},   {8, 16},  {8, 32}};
    const SpaceRef space = blur_space(16, 16);
    const State placed = take(State(space), 0);
    const Extents &trips = *parallelizable_trips(*space->problem, *placed.nest(), placed.next_func());
    const ParallelOptions options = parallel_options(*space->problem, placed.next_func(), trips);
    expect_equal("options before the cut", options.all.size(), 42u);
    Expansion expansion(placed);
    std::vector<Extents> tasks;
    for (const Decision &decision : expansion.decisions()) {
        tasks.push_back(expansion.tasks(decision));
    }
    expect("order of the parallel options", tasks == expected);
}

// Section 15: the numbers of children along the worked example. Inlining comes before the placements.
void test_blur_children() {
    const State root(blur_space(16, 16));
    expect_equal("place by", count(root), 1u);
    const State placed = take(root, 0);
    expect_equal("parallelize by", count(placed), 40u);
    Expansion parallel(placed);
    for (const Decision &decision : parallel.decisions()) {
        if (parallel.tasks(decision) != Extents{1, 128}) {
            continue;
        }
        const State state = parallel.child(decision);
        const auto bx = placements(state).first;
        expect_equal("place bx", bx.size() + 1, 303u);
        const auto vertical =
            std::count_if(bx.begin(), bx.end(), [](const Decision &option) { return option.vector_dim == 1; });
        expect_equal("place bx, vectorized over y", vertical, 150);
        const State with_bx = take(state.apply(bx[26]), 0);  // option 27 of the example
        const Level &by = *with_bx.nest()->children[0]->children[0];
        expect("bx inside a tile", by.store_at == decltype(Level::store_at){1} && by.size == Extents{64, 4});
        const auto repeat_edge = placements(with_bx).first;
        expect_equal("place repeat_edge", repeat_edge.size() + 1, 161u);
        const State complete = with_bx.apply(repeat_edge[42]);  // option 43
        const Level &by4 = *complete.nest()->children[0]->children[0];
        expect("repeat_edge stored outside", by4.store_at == decltype(Level::store_at){2} && by4.size == Extents{4, 1});
        expect("repeat_edge computed inside", by4.children[0]->size == Extents{1, 4} && !by4.children[0]->tileable);
    }
}

// Section 17.5: counting what is acceptable without building it gives what featurizing every child gives.
void test_acceptance_without_building() {
    std::mt19937 random(0);
    for (const int parallelism : {1, 16}) {
        const SpaceRef space = blur_space(parallelism, 8);
        NestTable nest(space->feature_constants);
        for (int walk = 0; walk < 10; walk++) {
            State state(space);
            while (!state.is_complete()) {
                const Node &func = state.next_func();
                if (!func.is_input && state.next_phase() == Phase::Place) {
                    const auto [all, accepted] = placements(state);
                    std::vector<Decision> tested;
                    for (const Decision &decision : all) {
                        const State child = state.apply(decision);
                        nest.start(*child.nest());
                        if (!exceeded_limit(*space->problem, nest, nest.stages(), -1, 8)) {
                            tested.push_back(decision);
                        }
                    }
                    expect("accepted placements of " + func.name, accepted == tested);
                }
                state = take(state, std::uniform_int_distribution<size_t>(0, count(state) - 1)(random));
            }
        }
    }
}

// Section 18, and docs/specification/search-and-cost-model.md, section 2.4.
void test_hash() {
    expect_equal("mix(0, 0)", mix(0, 0), 0x9e3779b9u);
    expect_equal("mix(0, -1)", mix(0, -1), 0x9e3779b8u);
    expect_equal("mix(1, 0)", mix(1, 0), 0x9e3779f8u);
    const State root(blur_space(16, 16));
    expect_equal("root, depth -1", root.hash(-1), 0u);
    expect_equal("root, depth 0", root.hash(0), 0xa16fb582e81u);
    expect_equal("root, depth 1", root.hash(1), 0x28253c8410b19u);
    expect_equal("root, depth 5", root.hash(5), 0x28253c8410b19u);

    const State wide = take(State(blur_space(16, 8)), 0);
    const std::vector<uint64_t> expected{1,
                                         0xa3b7daad49c96e,
                                         0xeb015c15d6867deb,
                                         0xa01ccd4f144fbf5e,
                                         0xd54d5485b30cc40a,
                                         0xb1a77da32ab98453,
                                         0x27ee35973dff6bde};
    for (size_t i = 0; i < expected.size(); i++) {
        expect_equal("hash at depth " + std::to_string(static_cast<int>(i) - 1), wide.hash(static_cast<int>(i) - 1),
                     expected[i]);
    }
}

}  // namespace

int main() {
    test_tilings();
    test_level_tilings();
    test_whole_loop_tilings();
    test_parallel_options();
    test_blur_children();
    test_acceptance_without_building();
    test_hash();
    return failures == 0 ? 0 : 1;
}
