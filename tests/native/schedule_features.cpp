// The worked examples of section 10, from edits to rows of features. Sections and quirks are those of
// docs/specification/schedule-features.md.

#include <algorithm>
#include <map>

#include "cost/limits.h"
#include "cost/nest_table.h"
#include "example_problem.h"
#include "problem/error.h"
#include "problem/validate.h"
#include "state/state.h"

using namespace halidegym;

namespace {

using Values = std::map<size_t, double>;  // by feature::Index

void expect_values(const std::string &what, const FeatureRow &row, const Values &expected) {
    for (const auto &[index, value] : expected) {
        expect_equal(what + ": " + std::string(schedule_feature_names[index]), row[index], value);
    }
}

void expect_row(const std::string &what, const FeatureRow &row, const FeatureRow &expected) {
    for (size_t i = 0; i < row.size(); i++) {
        expect_equal(what + ": " + std::string(schedule_feature_names[i]), row[i], expected[i]);
    }
}

// Section 10.1.
void test_blur() {
    const Problem problem = blur_problem(16, 16);
    Level root = store_and_compute(problem, *empty_nest(problem), 0);
    const Level parallel = in_parallel(problem, *root.children[0], root, {1, 128});
    const Level with_bx = store_and_compute(problem, split(problem, *parallel.children[0], parallel, {64, 4}), 1);
    Level by4 = split(problem, with_bx, parallel, {4, 1});
    by4.store_at = {2};
    const Level by1 = with_computed(problem, split(problem, *by4.children[0], by4, {1, 4}), 2);
    root = with_child(root, with_child(parallel, with_child(by4, by1)));

    const FeatureConstants constants(problem, *root.regions);
    NestTable nest(constants);
    nest.start(root);
    const FeatureTable &table = nest.table();
    expect("blur: stages in the model's order", table.stages == std::vector<int>{0, 1, 2});
    expect_row("blur, by", table.row(0),
               {1,    1,        4194304,  4194304,  4194304, 4194304, 8,        8,        8,       128,
                1,    16777216, 16777216, 16777216, 8192,    8192,    8192,     0,        768,     6,
                768,  13104,    16,       16,       262144,  0,       0,        3,        3,       131072,
                8192, 192,      3,        147456,   18,      13104,   16790320, 16790320, 16790320});
    expect_row("blur, bx", table.row(1),
               {32768,    32768, 192, 192,  6291456, 4198400, 12, 12,    12, 1,     128, 768,    768,
                16793600, 128,   128, 8192, 0,       816,     6,  12336, 0,  16,    16,  393216, 0,
                0,        3,     3,   768,  128,     72,      1,  0,     0,  13104, 768, 768,    16790320});
    expect_row("blur, repeat_edge", table.row(2),
               {512,      2048, 9252, 3168,  4737024, 4202500, 198, 198,      1, 1,     128, 37008,  12336,
                16810000, 2056, 2056, 8200,  0,       37008,   18,  16777216, 0, 16,    16,  294912, 18432,
                16,       0,    1,    37008, 2056,    64,      1,   0,        0, 13104, 768, 13104,  16790320});
    expect("blur: accepted", exceeded_limit(problem, nest, nest.stages(), -1, 8) == std::nullopt);
    expect("blur: memory limit", exceeded_limit(problem, nest, nest.stages(), 13104, 8) == std::nullopt);
    expect("blur: memory limit exceeded", exceeded_limit(problem, nest, nest.stages(), 13103, 8) == Limit::Memory);
}

// Section 10.2.
void test_matrix_product() {
    const Problem problem = matrix_product_problem(16);

    Level root = store_and_compute(problem, *empty_nest(problem), 0);
    const Level parallel = in_parallel(problem, *root.children[0], root, {1, 64});
    root = with_child(
        root,
        with_child(parallel, store_and_compute(problem, split(problem, *parallel.children[0], parallel, {16, 1}), 1)));
    const FeatureConstants constants(problem, *root.regions);
    NestTable nest(constants);
    nest.start(root);
    const FeatureTable &table = nest.table();
    expect("matrix product: the update precedes its pure stage", table.stages == std::vector<int>{0, 2, 1});
    expect_row("matrix product, out", table.row(0),
               {1,      1,    49152, 49152, 49152, 49152, 6, 6,      6,   64,  1,      196608, 196608,
                196608, 1024, 1024,  1024,  0,     192,   3, 192,    192, 8,   8,      6144,   0,
                0,      1,    1,     3072,  1024,  32,    1, 132608, 131, 192, 196800, 196800, 196800});
    expect_row("matrix product, C", table.row(1),
               {1024, 1024, 48, 48, 49152, 49152, 6, 6, 6, 1,   64, 192, 192, 196608, 64, 64,  1024, 0,   0,     0,
                0,    0,    8,  8,  6144,  0,     0, 0, 0, 192, 64, 0,   0,   0,      0,  192, 192,  192, 196800});
    expect_row("matrix product, C update", table.row(2),
               {1024,
                1024,
                6144,
                6144,
                6291456,
                6291456,
                768,
                6,
                6,
                1,
                64,
                192,
                192,
                196608,
                64,
                64,
                1024,
                0,
                9920,
                134,
                229568,
                0,
                8,
                8,
                786432,
                0,
                1.0 / 2,
                1.0 / 3 + 1,
                1.0 / 3 + 1.0 / 2 + 1,
                192,
                64,
                36,
                2,
                0,
                0,
                192,
                192,
                192,
                196800});
}

// Section 10.3.
void test_histogram() {
    const Problem problem = histogram_problem(16);
    const int cdf = 1, h = 2, g = 3;
    const int cdf_stage = 1, cdf_update = 2, h_update = 4;
    Level root = *empty_nest(problem);
    const auto realize = [&](int node, const Extents &tasks) {
        const size_t before = root.children.size();
        root = store_and_compute(problem, root, node);
        for (size_t i = before; i < root.children.size(); i++) {
            root = with_child(root, in_parallel(problem, *root.children[i], root, tasks), i);
        }
    };
    realize(0, {1, 16});
    realize(cdf, {32});
    realize(h, {32});
    root = with_inlined(problem, root, g);

    const FeatureConstants constants(problem, *root.regions);
    NestTable nest(constants);
    nest.start(root);
    const FeatureTable &table = nest.table();
    expect_values("histogram, H update", table.row(h_update),
                  {{22, 1},   {23, 32},     {24, 0},    {25, 307200}, {3, 307200}, {6, 1},       {7, 1},
                   {8, 1},    {9, 1},       {29, 1024}, {18, 308224}, {19, 481},   {20, 308224}, {31, 307200},
                   {32, 480}, {33, 307200}, {34, 480},  {26, 2},      {27, 1},     {28, 3}});
    expect_values("histogram, cdf", table.row(cdf_stage),
                  {{2, 255}, {24, 31}, {25, 7}, {3, 256}, {29, 28}, {26, 1}, {28, 1}});
    expect_values(
        "histogram, cdf update", table.row(cdf_update),
        {{26, 1}, {27, 1}, {28, 2}, {18, 2044}, {19, 2}, {20, 2044}, {31, 1020}, {32, 1}, {33, 1020}, {34, 1}});
    expect_values("histogram, eq", table.row(0), {{26, 32}, {27, 1}, {28, 2}, {31, 307712}, {32, 481}, {20, 308220}});
    expect_values("histogram, g", table.row(problem.nodes[static_cast<size_t>(g)].first_stage),
                  {{17, 921600},
                   {24, 9600},
                   {25, 614400},
                   {22, 32},
                   {23, 32},
                   {7, 1},
                   {9, 1},
                   {10, 1},
                   {5, 307200},
                   {13, 307200},
                   {16, 640},
                   {38, 309244},
                   {0, 0},
                   {4, 0},
                   {11, 0},
                   {21, 0}});
    expect("histogram: accepted", exceeded_limit(problem, nest, nest.stages(), -1, 8) == std::nullopt);

    const Level &eq = *root.children.front();
    const Level &tile = *eq.children.front();
    Level leaf = *tile.children.front();
    leaf.inlined.front().second = 256;
    const Level too_long = with_child(root, with_child(eq, with_child(tile, leaf)));
    nest.start(too_long);
    expect("histogram: code size", exceeded_limit(problem, nest, {}, -1, 8) == Limit::CodeSize);
}

// Section 10.4.
void test_partial_schedule() {
    const Problem problem = blur_problem(16, 8);
    const Level root = store_and_compute(problem, *empty_nest(problem), 0);
    const FeatureConstants constants(problem, *root.regions);
    NestTable nest(constants);
    nest.start(root);
    const FeatureTable &table = nest.table();
    expect("partial: only by has a row", table.stages == std::vector<int>{0});
    expect_row("partial, by", table.row(0),
               {1,    1,        4194304,  4194304,  4194304, 4194304, 524288,   524288,   1,        128,
                1,    16777216, 16777216, 16777216, 8192,    8192,    8192,     0,        16793600, 2048,
                12,   0,        8,        8,        524288,  0,       0,        3,        3,        1048576.9375,
                8192, 96,       3,        0,        0,       0,       16777216, 16777216, 16777216});
}

// Section 10.5.
void test_loads_through_inlined_funcs() {
    ExampleProblem example(16);
    const int f = example.output("f", {"x", "y"}, 8, {1000, 1000});
    const int q = example.func("q", {"x", "y"}, 8);
    const int p = example.func("p", {"x", "y"}, 8);
    const int image = example.input("I_im", {"_0", "_1"}, 8);
    example.edge(p, f, 2, {{.loop = 0, .high = 1}, {.loop = 1}});
    example.edge(q, f, 1, {{.loop = 0, .stride = 2}, {.loop = 1}});
    example.edge(image, q, 1, {{.loop = 1}, {.loop = 0}});
    example.edge(p, q, 1, {{.loop = 0}, {.loop = 1}});
    example.edge(image, p, 1, {{.loop = 0}, {.loop = 1}});
    const Problem problem = example.build();
    Level root = store_and_compute(problem, *empty_nest(problem), f);
    for (const int inlined : {q, p}) {
        root = with_inlined(problem, root, inlined);
    }
    const FeatureConstants constants(problem, *root.regions);
    NestTable nest(constants);
    nest.start(root);
    const FeatureTable &table = nest.table();
    expect_values("inlined loads, f", table.row(f), {{26, 24}, {27, 4}, {28, 7}});
    expect_values("inlined loads, q", table.row(q), {{17, 1000000}});
    expect_values("inlined loads, p", table.row(p), {{17, 3000000}});
}

// A Func that is always recomputed nine times breaks the limit of eight (section 8).
void test_recompute_limit() {
    ExampleProblem example(1);
    example.output("f", {"x"}, 8, {900});
    const int g = example.func("g", {"x"}, 8);
    example.edge(g, 0, 9, {{.loop = 0, .high = 8}});
    const Problem problem = example.build();
    const Level root = with_inlined(problem, store_and_compute(problem, *empty_nest(problem), 0), 1);
    const FeatureConstants constants(problem, *root.regions);
    NestTable nest(constants);
    nest.start(root);
    // 904 points are computed in whole vectors, 9 calls each; realized they would be 908.
    expect_values("recompute, g", nest.row(g), {{17, 8136}, {5, 908}});
    expect("recompute limit", exceeded_limit(problem, nest, nest.stages(), -1, 8) == Limit::Recompute);
}

// Where sites meet: next to an ancestor, not at it (section 2, quirk Q3).
// Loads of a stage are added up edge by edge, which is right as long as each has a producer of its own.
void test_two_edges_from_one_func() {
    for (const int edges : {1, 2}) {
        ExampleProblem example(1);
        example.output("f", {"x"}, 8, {900});
        const int g = example.func("g", {"x"}, 8);
        for (int i = 0; i < edges; i++) {
            example.edge(g, 0, 9, {{.loop = 0, .high = 8}});
        }
        bool is_refused = false;
        try {
            validate(example.build());
        } catch (const InvalidParameter &) {
            is_refused = true;
        }
        expect("two edges from one Func are refused", is_refused == (edges == 2));
    }
}

void test_presumed_sites() {
    ExampleProblem example(16);
    example.output("f", {"x", "y"}, 8, {512, 512});
    const int a = example.func("a", {"x", "y"}, 8);
    const int b = example.func("b", {"x", "y"}, 8);
    const int c = example.func("c", {"x", "y"}, 8);
    const int d = example.func("d", {"x", "y"}, 8);
    const std::vector<Access> identity = {{.loop = 0}, {.loop = 1}};
    example.edge(a, 0, 1, identity);
    example.edge(b, 0, 1, identity);
    example.edge(b, a, 1, identity);
    example.edge(c, b, 1, identity);
    example.edge(d, a, 1, identity);
    const Problem problem = example.build();

    Level root = store_and_compute(problem, *empty_nest(problem), 0);
    const Level outer = in_parallel(problem, *root.children[0], root, {1, 64});
    const Level tile = store_and_compute(problem, split(problem, *outer.children[0], outer, {8, 2}), a);
    root = with_child(root, with_child(outer, tile));
    // Positions: the root, f outside, f tile, f inside, f leaf, a outside, a leaf.
    Sites sites(problem);
    sites.locate(root);
    expect_equal("levels", sites.end(), 7);
    expect_equal("site of a", sites.of_node(a).store, 2);
    expect_equal("outermost level of a", sites.of_stage(a).produce, 5);
    expect_equal("innermost level of a", sites.of_stage(a).innermost, 6);
    expect_equal("b, read by two leaves of unequal branches", sites.of_node(b).compute, 2);
    expect_equal("c, read by b alone, is where b is", sites.of_node(c).compute, 2);
    expect_equal("d, read by a alone, is at its leaf", sites.of_node(d).compute, 6);
    expect("nothing but f and a is scheduled", sites.of_node(a).is_scheduled() && !sites.of_node(b).is_scheduled());

    // With a computed at root the leaves lie in different blocks.
    Level apart = store_and_compute(problem, with_child(root, outer), a);
    sites.locate(apart);
    expect_equal("b, read by two blocks", sites.of_node(b).compute, 0);

    // c read by b, which is presumed to be at the tile, and by the leaf inside it: one above the tile.
    example.edge(c, 0, 1, identity);
    const Problem with_ancestor = example.build();
    Sites overshooting(with_ancestor);
    overshooting.locate(root);
    expect_equal("c, read at a level and inside it", overshooting.of_node(c).compute, 1);
}

}  // namespace

int main() {
    test_blur();
    test_matrix_product();
    test_histogram();
    test_partial_schedule();
    test_loads_through_inlined_funcs();
    test_recompute_limit();
    test_two_edges_from_one_func();
    test_presumed_sites();
    return failures == 0 ? 0 : 1;
}
