#include "problem/validate.h"

#include <set>
#include <string>
#include <utility>

#include "problem/error.h"

namespace halidegym {

namespace {

void require(bool condition, const std::string &what) {
    if (!condition) {
        throw InvalidParameter(what);
    }
}

bool is_index(int index, size_t size) {
    return index >= 0 && static_cast<size_t>(index) < size;
}

// Enumerations of this module all have three values.
template <typename Kind>
bool is_kind(Kind kind) {
    return static_cast<unsigned>(kind) <= static_cast<unsigned>(Kind::General);
}

// Of a General bound: an expression over the min and max of `limits` loops or dimensions.
bool is_expression(const Problem &problem, int index, size_t limits) {
    return is_index(index, problem.expressions.size()) &&
           static_cast<size_t>(problem.expressions[static_cast<size_t>(index)].num_symbols()) <= 2 * limits;
}

void check_loop(const Problem &problem, const Node &node, const Loop &loop) {
    const auto dimensions = static_cast<size_t>(node.dimensions);
    require(is_kind(loop.kind), "a loop's bounds are of an unknown kind");
    require(loop.pure_dim == -1 || is_index(loop.pure_dim, dimensions),
            "a loop is over an argument that its Func lacks");
    require(loop.kind != Loop::Kind::ComputedDimension || is_index(loop.computed_dim, dimensions),
            "a loop covers a dimension that its Func lacks");
    require(loop.kind != Loop::Kind::General || (is_expression(problem, loop.expression_min, dimensions) &&
                                                 is_expression(problem, loop.expression_max, dimensions)),
            "a loop's bounds are no expressions over its Func's region");
}

void check_node(const Problem &problem, const Node &node) {
    require(node.dimensions >= 0 && node.args.size() == static_cast<size_t>(node.dimensions) &&
                node.region_computed.size() == node.args.size(),
            "a Func's dimensions, arguments and computed region do not match");
    require(node.vector_size >= 1 && node.bytes_per_point >= 0, "a Func's vector width or size is out of range");
    require(node.estimated_region.empty() || node.estimated_region.size() == node.args.size(),
            "an output's estimates and dimensions do not match");
    require(!node.is_output || node.estimated_region.size() == node.args.size(), "an output lacks estimates");
    for (const int dimension : node.unit_stride_dimensions) {
        require(is_index(dimension, node.args.size()), "a unit stride is of a dimension that the output lacks");
    }
    for (const ComputedDimension &dimension : node.region_computed) {
        require(is_kind(dimension.kind), "a computed region is of an unknown kind");
        require(dimension.kind != ComputedDimension::Kind::General ||
                    (is_expression(problem, dimension.expression_min, node.args.size()) &&
                     is_expression(problem, dimension.expression_max, node.args.size())),
                "a computed region is no expression over the region required");
    }
    require(node.num_stages >= 1 && is_index(node.first_stage, problem.stages.size()) &&
                static_cast<size_t>(node.num_stages) <= problem.stages.size() - static_cast<size_t>(node.first_stage),
            "a Func's stages are out of range");
    for (int i = 0; i < node.num_stages; ++i) {
        const Stage &stage = problem.stage(node, i);
        require(stage.node == node.id && stage.index == i, "a stage does not belong to its Func");
        require(stage.vector_size >= 1, "a stage's vector width is out of range");
        require(stage.loops.size() <= static_cast<size_t>(max_loops), "a stage has too many loops");
        for (const Loop &loop : stage.loops) {
            check_loop(problem, node, loop);
        }
    }
}

void check_jacobian(const LoadJacobian &jacobian, int producer_dimensions, size_t consumer_loops) {
    require(jacobian.rows == producer_dimensions, "a load Jacobian's rows and its producer's dimensions do not match");
    require(jacobian.columns == (jacobian.rows == 0 ? 0 : static_cast<int>(consumer_loops)),
            "a load Jacobian's columns and its consumer's loops do not match");
    require(jacobian.entries.size() == static_cast<size_t>(jacobian.rows) * static_cast<size_t>(jacobian.columns),
            "a load Jacobian's size and entries do not match");
}

void check_edge(const Problem &problem, const Edge &edge) {
    require(is_index(edge.producer, problem.nodes.size()) && is_index(edge.consumer_stage, problem.stages.size()),
            "an edge connects what is not there");
    const Node &producer = problem.nodes[static_cast<size_t>(edge.producer)];
    const Stage &consumer = problem.stages[static_cast<size_t>(edge.consumer_stage)];
    require(producer.id > consumer.node, "an edge's producer comes before its consumer");
    require(edge.bounds.size() == 2 * producer.args.size(),
            "an edge's bounds and its producer's dimensions do not match");
    for (const EdgeBound &bound : edge.bounds) {
        require(is_kind(bound.kind), "an edge's bound is of an unknown kind");
        require(bound.kind != EdgeBound::Kind::Affine || is_index(bound.loop, consumer.loops.size()),
                "an edge's bound is over a loop that its consumer lacks");
        require(bound.kind != EdgeBound::Kind::General ||
                    is_expression(problem, bound.expression, consumer.loops.size()),
                "an edge's bound is no expression over its consumer's loops");
    }
    for (const LoadJacobian &jacobian : edge.jacobians) {
        check_jacobian(jacobian, producer.dimensions, consumer.loops.size());
    }
}

}  // namespace

void validate(const Problem &problem) {
    require(problem.parallelism >= 1, "the parallelism is not positive");
    int next_stage = 0;
    for (size_t i = 0; i < problem.nodes.size(); ++i) {
        const Node &node = problem.nodes[i];
        require(node.id == static_cast<int>(i) && node.first_stage == next_stage, "Funcs are out of order");
        check_node(problem, node);
        next_stage += node.num_stages;
    }
    require(static_cast<size_t>(next_stage) == problem.stages.size(), "a stage belongs to no Func");
    for (size_t i = 0; i < problem.stages.size(); ++i) {
        require(problem.stages[i].id == static_cast<int>(i), "stages are out of order");
    }
    std::set<std::pair<int, int>> ends;
    for (size_t i = 0; i < problem.edges.size(); ++i) {
        const Edge &edge = problem.edges[i];
        require(edge.id == static_cast<int>(i), "edges are out of order");
        check_edge(problem, edge);
        require(ends.emplace(edge.producer, edge.consumer_stage).second, "a stage has two edges from one Func");
    }
}

}  // namespace halidegym
