#include "observation/problem_rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cost/weights.h"
#include "observation/scaling.h"

namespace halidegym {

namespace {

using StageFeatures = std::array<float, num_stage_features>;
using EdgeFeatures = std::array<float, num_edge_features>;

constexpr size_t num_shown_extents = 7;

// Transposed and without the types in use (docs/specification/function-dag.md, section 9.2).
void add_algorithm_features(std::vector<float> &out, const Stage &stage) {
    for (int type = 0; type < num_scalar_types; type++) {
        for (int operation = 0; operation < num_operations; operation++) {
            const int index = num_scalar_types * (1 + operation) + type;
            out.push_back(scaled(stage.features[static_cast<size_t>(index)]));
        }
    }
}

StageFeatures stage_features(const Space &space, const Stage &stage) {
    const Problem &problem = *space.problem;
    const Node &node = problem.node_of(stage);
    const Bound &bound = space.empty_nest->regions->of(node.id);
    const auto loops = bound.loops(stage.index);
    StageFeatures row{};
    double iterations = 1;
    for (size_t i = 0; i < loops.size(); i++) {
        const auto extent = static_cast<double>(loops[i].extent());
        iterations *= extent;
        if (i < num_shown_extents) {
            row[i] = scaled_count(extent);
        }
    }
    const std::array<double, num_shown_extents> counts = {iterations,
                                                          static_cast<double>(node.bytes_per_point),
                                                          static_cast<double>(bound.volume_computed()),
                                                          static_cast<double>(stage.vector_size),
                                                          static_cast<double>(node.outgoing.size()),
                                                          static_cast<double>(stage.incoming.size()),
                                                          static_cast<double>(problem.parallelism)};
    float *out = std::ranges::transform(counts, row.begin() + num_shown_extents, scaled_count).out;
    *out++ = static_cast<float>(stage.loops.size());
    *out++ = static_cast<float>(node.dimensions);
    *out++ = static_cast<float>(std::ranges::count_if(stage.loops, &Loop::rvar));
    for (const bool flag : {node.is_input, node.is_output, node.is_pointwise, node.is_boundary_condition,
                            stage.index > 0, stage.reads_image}) {
        *out++ = flag ? 1 : 0;
    }
    *out = static_cast<float>(node.id) / static_cast<float>(problem.num_nodes());
    return row;
}

bool is_constant(const EdgeBound &min, const EdgeBound &max) {
    return min.kind == EdgeBound::Kind::Constant && max.kind == EdgeBound::Kind::Constant;
}

bool is_affine(const EdgeBound &min, const EdgeBound &max) {
    return min.kind == EdgeBound::Kind::Affine && max.kind == EdgeBound::Kind::Affine && min.loop == max.loop &&
           min.coefficient == max.coefficient;
}

EdgeFeatures load_features(const Edge &edge) {
    double points = 1;
    double strides = 0;
    int num_constant = 0;
    int num_general = 0;
    for (size_t i = 0; i + 1 < edge.bounds.size(); i += 2) {
        const EdgeBound &min = edge.bounds[i];
        const EdgeBound &max = edge.bounds[i + 1];
        if (is_affine(min, max)) {
            strides += std::log2(std::max(1.0, std::abs(static_cast<double>(min.coefficient))));
        } else if (is_constant(min, max)) {
            num_constant++;
        } else {
            num_general++;
            continue;
        }
        points *= std::max(1.0, static_cast<double>(max.constant) - static_cast<double>(min.constant) + 1);
    }
    return {scaled_count(edge.calls),
            scaled_count(points),
            static_cast<float>(std::min(strides, max_scaled)),
            static_cast<float>(num_general),
            static_cast<float>(num_constant),
            scaled_count(static_cast<double>(edge.jacobians.size())),
            1,
            0};
}

constexpr EdgeFeatures join_features = {0, 0, 0, 0, 0, 0, 0, 1};

// The value of a Func is what its last stage leaves.
int last_stage(const Node &node) {
    return node.first_stage + node.num_stages - 1;
}

template <typename Row>
void append_row(std::vector<float> &rows, const Row &row) {
    rows.insert(rows.end(), row.begin(), row.end());
}

}  // namespace

ProblemRows::ProblemRows(const Space &space) : num_stages(space.problem->num_stages()) {
    const Problem &problem = *space.problem;
    for (const Stage &stage : problem.stages) {
        add_algorithm_features(algorithm_features, stage);
        append_row(stage_features, halidegym::stage_features(space, stage));
    }
    const auto add_edge = [&](int producer_stage, int consumer_stage, const EdgeFeatures &features) {
        edges.push_back(producer_stage);
        edges.push_back(consumer_stage);
        append_row(edge_features, features);
    };
    for (const Edge &edge : problem.edges) {
        add_edge(last_stage(problem.nodes[static_cast<size_t>(edge.producer)]), edge.consumer_stage,
                 load_features(edge));
    }
    for (const Stage &stage : problem.stages) {
        if (stage.index > 0) {
            add_edge(stage.id - 1, stage.id, join_features);
        }
    }
}

int num_edge_rows(const Problem &problem) {
    return static_cast<int>(problem.edges.size()) + problem.num_stages() - problem.num_nodes();
}

}  // namespace halidegym
