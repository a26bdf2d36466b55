#pragma once

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cost/weights.h"
#include "nest/edits.h"
#include "problem/problem.h"

// Small problems and nests by hand, and the checks of the native tests.
namespace halidegym {

// One dimension of a load: stride * loop + [low, high].
struct Access {
    int loop;
    int64_t stride = 1;
    int64_t low = 0;
    int64_t high = 0;
};

class ExampleProblem {
public:
    explicit ExampleProblem(int parallelism) { problem_.parallelism = parallelism; }

    // A Func of float32 whose pure stage loops over its arguments in order. Returns its node id.
    int func(const std::string &name, const std::vector<std::string> &args, int lanes) {
        Node node;
        node.id = problem_.num_nodes();
        node.name = name;
        node.dimensions = static_cast<int>(args.size());
        node.args = args;
        node.bytes_per_point = 4;
        node.vector_size = lanes;
        node.first_stage = problem_.num_stages();
        node.num_stages = 1;
        node.region_computed.resize(args.size());
        Stage stage;
        stage.id = problem_.num_stages();
        stage.node = node.id;
        stage.name = name;
        stage.vector_size = lanes;
        for (int d = 0; d < node.dimensions; d++) {
            stage.loops.push_back(pure_loop(node, d));
        }
        name_loops(stage);
        problem_.nodes.push_back(node);
        problem_.stages.push_back(stage);
        return node.id;
    }

    int input(const std::string &name, const std::vector<std::string> &args, int lanes) {
        const int id = func(name, args, lanes);
        problem_.nodes.back().is_input = true;
        return id;
    }

    int output(const std::string &name, const std::vector<std::string> &args, int lanes,
               const std::vector<int64_t> &extents) {
        const int id = func(name, args, lanes);
        problem_.nodes.back().is_output = true;
        if (!args.empty()) problem_.nodes.back().unit_stride_dimensions = {0};
        for (const int64_t extent : extents) {
            problem_.nodes.back().estimated_region.push_back({0, extent - 1, false});
        }
        return id;
    }

    // Adds an update stage to the last Func: reduction loops over [min, max], then pure loops over some dimensions.
    int update(const std::vector<std::pair<int64_t, int64_t>> &reductions, const std::vector<int> &pure_dims,
               int lanes) {
        Node &node = problem_.nodes.back();
        Stage stage;
        stage.id = problem_.num_stages();
        stage.node = node.id;
        stage.index = node.num_stages++;
        stage.name = node.name + ".update(" + std::to_string(stage.index - 1) + ")";
        stage.vector_size = lanes;
        for (const auto &[min, max] : reductions) {
            Loop loop;
            loop.variable = "r$" + std::to_string(stage.loops.size());
            loop.rvar = true;
            loop.kind = Loop::Kind::Constant;
            loop.constant_min = min;
            loop.constant_max = max;
            stage.loops.push_back(loop);
        }
        for (const int d : pure_dims) {
            stage.loops.push_back(pure_loop(node, d));
        }
        name_loops(stage);
        problem_.stages.push_back(stage);
        return stage.id;
    }

    // An edge whose calls all have the same affine access but for constant offsets.
    Edge &edge(int producer, int consumer_stage, int calls, const std::vector<Access> &accesses) {
        Edge edge = empty_edge(producer, consumer_stage, calls);
        LoadJacobian jacobian = empty_jacobian(edge);
        for (size_t d = 0; d < accesses.size(); d++) {
            const Access &access = accesses[d];
            for (const bool of_max : {false, true}) {
                edge.bounds.push_back({.kind = EdgeBound::Kind::Affine,
                                       .of_max = of_max,
                                       .loop = access.loop,
                                       .coefficient = access.stride,
                                       .constant = of_max ? access.high : access.low});
            }
            jacobian.entries[d * static_cast<size_t>(jacobian.columns) + static_cast<size_t>(access.loop)].numerator =
                access.stride;
        }
        edge.jacobians.push_back(jacobian);
        problem_.edges.push_back(edge);
        return problem_.edges.back();
    }

    // An edge that needs a constant region, at coordinates whose derivatives are not known, or zero if it is a point.
    Edge &constant_edge(int producer, int consumer_stage, int calls, int64_t min, int64_t max) {
        Edge edge = empty_edge(producer, consumer_stage, calls);
        edge.bounds = {{.kind = EdgeBound::Kind::Constant, .constant = min},
                       {.kind = EdgeBound::Kind::Constant, .constant = max}};
        LoadJacobian jacobian = empty_jacobian(edge);
        if (min != max) jacobian.entries.assign(jacobian.entries.size(), Rational::unknown());
        edge.jacobians.push_back(jacobian);
        problem_.edges.push_back(edge);
        return problem_.edges.back();
    }

    // Makes the bounds of an edge clamp the loops to [0, last], with derivatives that are not known.
    void clamp(Edge &edge, int64_t last) {
        for (EdgeBound &bound : edge.bounds) {
            const int symbol = 2 * bound.loop + (bound.of_max ? 1 : 0);
            bound.kind = EdgeBound::Kind::General;
            bound.expression = static_cast<int>(problem_.expressions.size());
            problem_.expressions.push_back(clamped(symbol, last));
        }
        for (Rational &entry : edge.jacobians.at(0).entries) {
            if (!entry.is(0)) entry = Rational::unknown();
        }
    }

    Node &node(int id) { return problem_.nodes.at(static_cast<size_t>(id)); }
    Stage &stage(int id) { return problem_.stages.at(static_cast<size_t>(id)); }

    Problem build() {
        problem_.derive();
        return problem_;
    }

private:
    // max(min(symbol, last), 0)
    static Expression clamped(int symbol, int64_t last) {
        const auto instruction = [](Opcode opcode, uint16_t a, uint16_t b, int64_t immediate) {
            return Instruction{.opcode = opcode,
                               .type = int32_type,
                               .operand_type = int32_type,
                               .operands = {a, b, 0},
                               .immediate = immediate};
        };
        return Expression({instruction(Opcode::Symbol, 0, 0, symbol), instruction(Opcode::Constant, 0, 0, last),
                           instruction(Opcode::Min, 0, 1, 0), instruction(Opcode::Constant, 0, 0, 0),
                           instruction(Opcode::Max, 2, 3, 0)});
    }

    static Loop pure_loop(const Node &node, int dimension) {
        Loop loop;
        loop.variable = node.args.at(static_cast<size_t>(dimension));
        loop.pure = true;
        loop.pure_dim = dimension;
        loop.kind = Loop::Kind::ComputedDimension;
        loop.computed_dim = dimension;
        return loop;
    }

    // How schedule source refers to the loops.
    static void name_loops(Stage &stage) {
        for (size_t i = 0; i < stage.loops.size(); i++) {
            stage.loops[i].accessor = stage.name + ".get_schedule().dims()[" + std::to_string(i) + "].var";
        }
    }

    Edge empty_edge(int producer, int consumer_stage, int calls) const {
        Edge edge;
        edge.id = static_cast<int>(problem_.edges.size());
        edge.producer = producer;
        edge.consumer_stage = consumer_stage;
        edge.calls = calls;
        return edge;
    }

    LoadJacobian empty_jacobian(const Edge &edge) const {
        LoadJacobian jacobian;
        jacobian.rows = problem_.nodes.at(static_cast<size_t>(edge.producer)).dimensions;
        jacobian.columns = static_cast<int>(problem_.stages.at(static_cast<size_t>(edge.consumer_stage)).loops.size());
        jacobian.entries.assign(static_cast<size_t>(jacobian.rows * jacobian.columns), Rational::zero());
        jacobian.count = edge.calls;
        return jacobian;
    }

    Problem problem_;
};

// The two-stage blur of docs/specification/function-dag.md, section 13.1.
inline Problem blur_problem(int parallelism, int lanes) {
    ExampleProblem example(parallelism);
    const int by = example.output("by", {"x", "y"}, lanes, {2048, 2048});
    const int bx = example.func("bx", {"x", "y"}, lanes);
    const int repeat_edge = example.func("repeat_edge", {"_0", "_1"}, lanes);
    const int input = example.input("inp_im", {"_0", "_1"}, lanes);
    example.node(repeat_edge).is_boundary_condition = true;
    example.node(input).is_wrapper = true;
    example.edge(bx, by, 3, {{.loop = 0}, {.loop = 1, .low = -1, .high = 1}});
    example.edge(repeat_edge, bx, 3, {{.loop = 0, .low = -1, .high = 1}, {.loop = 1}});
    example.clamp(example.edge(input, repeat_edge, 1, {{.loop = 0}, {.loop = 1}}), 2047);
    return example.build();
}

// A matrix product of 256 x 128 and 128 x 192, and its copy (docs/specification/schedule-features.md, section 10.2).
inline Problem matrix_product_problem(int parallelism) {
    ExampleProblem example(parallelism);
    example.output("out", {"i", "j"}, 8, {256, 192});
    example.func("C", {"i", "j"}, 8);
    const int update = example.update({{0, 127}}, {0, 1}, 8);
    const int b = example.input("B_im", {"_0", "_1"}, 8);
    const int a = example.input("A_im", {"_0", "_1"}, 8);
    example.edge(1, 0, 1, {{.loop = 0}, {.loop = 1}});
    example.edge(a, update, 1, {{.loop = 1}, {.loop = 0}});
    example.edge(b, update, 1, {{.loop = 0}, {.loop = 2}});
    return example.build();
}

// Histogram equalization of an image (docs/specification/schedule-features.md, section 10.3): eq, cdf, H, g. The
// indices into cdf and H come from pixels, so their regions are constants.
inline Problem histogram_problem(int parallelism) {
    ExampleProblem example(parallelism);
    example.output("eq", {"x", "y"}, 32, {640, 480});
    const int cdf = example.func("cdf", {"b"}, 8);
    const int cdf_update = example.update({{1, 255}}, {}, 8);
    const int h = example.func("H", {"b"}, 8);
    const int h_update = example.update({{0, 639}, {0, 479}}, {}, 32);
    const int g = example.func("g", {"x", "y"}, 32);
    const int image = example.input("I_im", {"_0", "_1"}, 32);
    for (const int id : {0, g, image}) {
        example.node(id).bytes_per_point = 1;
    }
    for (const auto &[id, min] : {std::pair{cdf, 1}, std::pair{h, 0}}) {
        example.node(id).region_computed[0] = {
            .kind = ComputedDimension::Kind::UnionWithConstants, .constant_min = min, .constant_max = 255};
    }
    const int cdf_stage = example.node(cdf).first_stage;
    example.constant_edge(cdf, 0, 1, 3, 130);
    example.edge(g, 0, 1, {{.loop = 0}, {.loop = 1}});
    example.constant_edge(h, cdf_stage, 1, 0, 0);
    example.edge(h, cdf_update, 1, {{.loop = 0}});
    example.edge(g, h_update, 2, {{.loop = 0}, {.loop = 1}});
    example.edge(image, example.node(g).first_stage, 1, {{.loop = 0}, {.loop = 1}});
    return example.build();
}

// `level` with its child at a position replaced.
inline Level with_child(Level level, Level child, size_t position = 0) {
    level.children.at(position) = std::make_shared<const Level>(std::move(child));
    return level;
}

// `level` split, with nothing in the outer half yet but the inner one.
inline Level split(const Problem &problem, const Level &level, const Level &parent, const Extents &trips) {
    LastingNests make;
    const Draft inner = make.copy(level);
    const Draft outer = tile(make, *inner, trips, tile_regions(make, problem, level, parent, trips), true);
    outer->children.push_back(inner);
    return *outer;
}

// A root child split into parallel tasks.
inline Level in_parallel(const Problem &problem, const Level &level, const Level &root, const Extents &tasks) {
    LastingNests make;
    return *parallelize(make, problem, level, root, tasks, true);
}

// `root` with a Func inlined.
inline Level with_inlined(const Problem &problem, const Level &root, int node) {
    LastingNests make;
    return *inline_func(make, problem, root, problem.nodes.at(static_cast<size_t>(node)));
}

// `level` with a Func computed in its body.
inline Level with_computed(const Problem &problem, Level level, int node) {
    LastingNests make;
    compute_here(make, problem, level, problem.nodes.at(static_cast<size_t>(node)), 0, true);
    return level;
}

// `level` with a Func stored and computed in its body.
inline Level store_and_compute(const Problem &problem, const Level &level, int node) {
    Level edited = with_computed(problem, level, node);
    edited.store_at.push_back(node);
    return edited;
}

// Weights of the cost model, one after another from `draw`.
template <typename Draw>
Weights weights_from(const Draw &draw) {
    Weights weights;
    const auto fill = [&](auto &tensor) { std::ranges::generate(tensor, draw); };
    fill(weights.head1_filter);
    fill(weights.head1_bias);
    fill(weights.head2_filter);
    fill(weights.head2_bias);
    fill(weights.conv1_filter);
    fill(weights.conv1_bias);
    return weights;
}

inline int failures = 0;

inline void expect(const std::string &what, bool holds) {
    if (!holds) {
        failures++;
        std::cerr << "failed: " << what << "\n";
    }
}

template <typename Actual, typename Expected>
void expect_equal(const std::string &what, const Actual &actual, const Expected &expected) {
    if (!(actual == expected)) {
        failures++;
        std::cerr.precision(17);
        std::cerr << what << ": expected " << expected << ", but got " << actual << "\n";
    }
}

template <typename Error, typename Run>
void expect_error(const std::string &name, const Run &run) {
    try {
        run();
        expect(name, false);
    } catch (const Error &) {
    }
}

}  // namespace halidegym
