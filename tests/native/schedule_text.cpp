// The worked examples of docs/specification/search-space.md, section 15: from edits to the text of the nest and of the
// schedule.

#include "nest/schedule_text.h"

#include <string>

#include "example_problem.h"
#include "nest/directives.h"
#include "nest/dump.h"
#include "nest/edits.h"
#include "problem/error.h"

using namespace halidegym;

namespace {

// mm(x, y) = 0; mm(x, y) += A(r, y) * B(x, r); out(x, y) = f(mm(x, y)).
Problem matrix_product() {
    ExampleProblem example(16);
    const int out = example.output("out", {"x", "y"}, 8, {144, 150});
    const int mm = example.func("mm", {"x", "y"}, 8);
    const int update = example.update({{0, 199}}, {0, 1}, 8);
    const int a = example.input("A_im", {"_0", "_1"}, 8);
    const int b = example.input("B_im", {"_0", "_1"}, 8);
    example.edge(mm, out, 1, {{.loop = 0}, {.loop = 1}});
    example.edge(a, update, 1, {{.loop = 0}, {.loop = 2}});
    example.edge(b, update, 1, {{.loop = 1}, {.loop = 0}});
    return example.build();
}

Level output_in_parallel(const Problem &problem, const Extents &tasks) {
    Level root = with_computed(problem, *empty_nest(problem), 0);
    root.store_at = {0};
    return with_child(root, in_parallel(problem, *root.children[0], root, tasks));
}

void test_blur() {
    const Problem problem = blur_problem(16, 16);
    const Level root = output_in_parallel(problem, {1, 128});
    const Level &parallel = *root.children[0];
    expect_equal("blur, parallel", dump(problem, root),
                 "\n"
                 "realize: by\n"
                 "by 1 128 (0, 0) t p\n"
                 " by 128 16c (0, 0) t\n"
                 "  by 16vc 1c (0, 0) *\n");

    // bx is computed between the tiles (64, 4) of the level below the parallel one.
    Level by64 = split(problem, *parallel.children[0], parallel, {64, 4});
    by64.store_at = {1};
    Level by_with_bx = with_computed(problem, by64, 1);
    expect_equal("blur, bx placed", dump(problem, with_child(root, with_child(parallel, by_with_bx))),
                 "\n"
                 "realize: by\n"
                 "by 1 128 (0, 0) t p\n"
                 " by 64 4c (0, 0) t\n"
                 "  realize: bx\n"
                 "  bx 2c 6c (0, 0) t\n"
                 "   bx 16vc 1c (0, 0) *\n"
                 "  by 2c 4c (0, 0) t\n"
                 "   by 16vc 1c (0, 0) *\n");

    // repeat_edge is stored at the outer of the tiles (4, 1) and computed at the outer of the tiles (1, 4) within.
    Level by4 = split(problem, by_with_bx, parallel, {4, 1});
    const Level by1 = split(problem, *by4.children.back(), by4, {1, 4});
    Level host = with_computed(problem, by1, 2);
    host.tileable = false;
    by4.store_at = {2};
    const Level nest = with_child(root, with_child(parallel, with_child(by4, host)));
    const std::string text = "\n"
                             "realize: by\n"
                             "by 1 128 (0, 0) t p\n"
                             " by 4 1c (0, 0) t\n"
                             "  realize: repeat_edge\n"
                             "  by 1c 4c (0, 0)\n"
                             "   repeat_edge 33c 6c (0, 0) t\n"
                             "    repeat_edge 16vc 1c (0, 0) *\n"
                             "   by 16c 1c (0, 0) t\n"
                             "    realize: bx\n"
                             "    bx 2c 6c (0, 0) t\n"
                             "     bx 16vc 1c (0, 0) *\n"
                             "    by 2c 4c (0, 0) t\n"
                             "     by 16vc 1c (0, 0) *\n";
    expect_equal("blur, complete", dump(problem, nest), text);
    expect("blur: the text does not parse to the nest", parse_nest(text) == describe(problem, nest));

    const auto calls = directives(problem, nest);
    expect_equal("blur, schedule", schedule_source(problem, calls),
                 R"(Func by = pipeline.get_func(3);
Func bx = pipeline.get_func(2);
Func repeat_edge = pipeline.get_func(1);
Var _0(repeat_edge.get_schedule().dims()[0].var);
Var _0i("_0i");
Var _1(repeat_edge.get_schedule().dims()[1].var);
Var x(by.get_schedule().dims()[0].var);
Var xi("xi");
Var xii("xii");
Var xiii("xiii");
Var y(by.get_schedule().dims()[1].var);
Var yi("yi");
Var yii("yii");
by
    .split(y, y, yi, 16, TailStrategy::ShiftInwards)
    .split(x, x, xi, 512, TailStrategy::ShiftInwards)
    .split(yi, yi, yii, 4, TailStrategy::ShiftInwards)
    .split(xi, xi, xii, 32, TailStrategy::ShiftInwards)
    .split(xii, xii, xiii, 16, TailStrategy::ShiftInwards)
    .unroll(xii)
    .unroll(yii)
    .vectorize(xiii)
    .compute_root()
    .reorder({xiii, xii, yii, xi, yi, x, y})
    .parallel(y);
bx
    .store_in(MemoryType::Stack)
    .split(x, x, xi, 16, TailStrategy::RoundUp)
    .unroll(x)
    .unroll(y)
    .vectorize(xi)
    .compute_at(by, xi)
    .reorder({xi, x, y});
repeat_edge
    .store_in(MemoryType::Stack)
    .split(_0, _0, _0i, 16, TailStrategy::ShiftInwards)
    .vectorize(_0i)
    .compute_at(by, yi)
    .store_at(by, x)
    .reorder({_0i, _0, _1});
)");
}

void test_matrix_product() {
    const Problem problem = matrix_product();
    const Level root = output_in_parallel(problem, {2, 75});
    const Level &parallel = *root.children[0];
    Level out3 = split(problem, *parallel.children[0], parallel, {3, 1});
    out3.store_at = {1};
    const Level nest = with_child(root, with_child(parallel, with_computed(problem, out3, 1)));
    const std::string text = "\n"
                             "realize: out\n"
                             "out 2 75 (0, 0) t p\n"
                             " out 3c 1c (0, 0) t\n"
                             "  realize: mm\n"
                             "  mm 3c 2c (0, 0) t\n"
                             "   mm 8vc 1c (0, 0) *\n"
                             "  mm 200c 3c 2c (1, 0) t\n"
                             "   mm 1c 8vc 1c (1, 0) *\n"
                             "  out 3c 2c (0, 0) t\n"
                             "   out 8vc 1c (0, 0) *\n";
    expect_equal("matrix product", dump(problem, nest), text);
    expect("matrix product: the text does not parse to the nest", parse_nest(text) == describe(problem, nest));

    const auto calls = directives(problem, nest);
    expect_equal("matrix product, schedule", schedule_source(problem, calls),
                 R"(Func out = pipeline.get_func(3);
Func mm = pipeline.get_func(2);
Var x(out.get_schedule().dims()[0].var);
Var xi("xi");
Var xii("xii");
Var xiii("xiii");
Var y(out.get_schedule().dims()[1].var);
Var yi("yi");
RVar r_0(mm.update(0).get_schedule().dims()[0].var);
out
    .split(x, x, xi, 72, TailStrategy::ShiftInwards)
    .split(y, y, yi, 2, TailStrategy::ShiftInwards)
    .split(xi, xi, xii, 24, TailStrategy::ShiftInwards)
    .split(xii, xii, xiii, 8, TailStrategy::ShiftInwards)
    .unroll(xii)
    .unroll(yi)
    .vectorize(xiii)
    .compute_root()
    .reorder({xiii, xii, yi, xi, x, y})
    .fuse(x, y, x)
    .parallel(x);
mm.update(0)
    .split(x, x, xi, 8, TailStrategy::GuardWithIf)
    .unroll(x)
    .unroll(y)
    .vectorize(xi)
    .reorder({xi, x, y, r_0});
mm
    .store_in(MemoryType::Stack)
    .split(x, x, xi, 8, TailStrategy::RoundUp)
    .unroll(x)
    .unroll(y)
    .vectorize(xi)
    .compute_at(out, xi)
    .reorder({xi, x, y});
)");
}

void test_parse_refuses(const std::string &text, const std::string &line) {
    try {
        parse_nest(text);
        expect("accepted: " + text, false);
    } catch (const FormatError &error) {
        expect("'" + text + "' is refused with: " + error.what(),
               std::string(error.what()).find("line " + line + ":") != std::string::npos);
    }
}

void test_parser() {
    const std::string text = "\n"
                             "f 4 (0, 0) t\n"
                             " g (-1, 0) *\n"
                             " g 2c (0, 0) t p\n"
                             " f 8vc (0, 0) *\n"
                             "  inlined: h$1 10\n";
    const PrintedLevel root = parse_nest(text);
    const PrintedLevel &f = root.children.at(0);
    expect("children are not in stored order", f.children.at(0).func == "f" && f.children.at(1).func == "g");
    expect("stages of g are not counted", f.children.at(1).stage == 1 && f.children.at(2).stage == 0);
    expect("inlined Func", f.children.at(0).inlined.at(0) == std::pair<std::string, int64_t>("h$1", 10));
    expect_equal("printed back", dump(root), text);
    expect_equal("an empty nest", dump(parse_nest("\n")), "\n");

    test_parse_refuses("f 4 (0, 0) t", "1");
    test_parse_refuses("\nf 4 (0, 0) t\n  f 8vc (0, 0) *\n", "3");
    test_parse_refuses("f 4v (0, 0) t\n", "1");
    test_parse_refuses("f 4 (0, 0) q\n", "1");
    test_parse_refuses("f 4 (0,0)\n", "1");
    test_parse_refuses("f four (0, 0)\n", "1");
    test_parse_refuses("f 04 (0, 0)\n", "1");
    test_parse_refuses("f 99999999999999999999 (0, 0)\n", "1");
    test_parse_refuses("f 4 (0, 0)\nrealize: f\n", "2");
    test_parse_refuses("f 4 (-1, 0) *\n inlined: g\n", "2");
    test_parse_refuses("realize:\n", "1");
    test_parse_refuses("\n\n", "2");
}

}  // namespace

int main() {
    test_blur();
    test_matrix_product();
    test_parser();
    return failures == 0 ? 0 : 1;
}
