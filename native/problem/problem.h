#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "problem/expression.h"
#include "problem/node_bits.h"
#include "problem/rational.h"
#include "problem/span.h"

namespace halidegym {

// The scheduling problem as plain data: what a search needs to know about a Halide pipeline, and no Halide.
// Sections and quirks are those of docs/specification/function-dag.md, which follows the analysis of Adams et al. 2019.

inline constexpr int num_algorithm_features = 287;  // section 9.1
inline constexpr int max_loops = 16;                // per stage; a pipeline with more is refused

// One side (min or max) of one dimension of the region that a consumer stage needs of a producer (section 5.2).
// Symbols of a General expression: 2 * loop + (0 for its min, 1 for its max), over the consumer stage's loops.
struct EdgeBound {
    enum class Kind : uint8_t { Constant, Affine, General };
    Kind kind = Kind::Constant;
    bool depends_on_parameter = false;
    bool of_max = false;      // Affine: the loop's max, else its min
    int loop = -1;            // Affine: the consumer stage's loop
    int64_t coefficient = 0;  // Affine: coefficient * limit + constant
    int64_t constant = 0;
    int expression = -1;  // General: index into Problem::expressions
};

// How the loads of an edge move when the consumer's loops move: rows are storage dimensions of the producer, columns
// loops of the consumer, innermost first (section 8.6).
struct LoadJacobian {
    int rows = 0;
    int columns = 0;                // 0 if there are no rows
    std::vector<Rational> entries;  // row-major, [rows * columns]
    int64_t count = 1;

    Rational entry(int row, int column) const {
        return columns == 0 ? Rational::zero() : entries[static_cast<size_t>(row) * columns + column];
    }
};

// To look through an inlined Func: a is a load by that Func, b the load of that Func.
LoadJacobian operator*(const LoadJacobian &a, const LoadJacobian &b);

struct Edge {
    int id = 0;
    int producer = 0;        // node
    int consumer_stage = 0;  // stage
    int calls = 0;
    std::vector<EdgeBound> bounds;  // [2 * producer dimensions]: min, max of dimension 0, then of dimension 1 ...
    std::vector<LoadJacobian> jacobians;
};

// Where the bounds of a loop come from, given the region computed of its Func (section 6.2).
// Symbols of a General expression: 2 * dimension + (0 for min, 1 for max), over the region *computed*.
struct LoopRule {
    enum class Kind : uint8_t { ComputedDimension, Constant, General };
    Kind kind = Kind::General;
    int computed_dim = -1;
    int64_t constant_min = 0;
    int64_t constant_max = 0;
    int expression_min = -1;
    int expression_max = -1;
};

struct Loop : LoopRule {
    std::string variable;
    std::string accessor;  // source fragment that names the variable, for printed schedules
    bool pure = false;
    bool rvar = false;
    int pure_dim = -1;  // index among the Func's pure arguments
};

struct Stage {
    int id = 0;
    int node = 0;
    int index = 0;  // 0 is the pure definition
    std::string name;
    int vector_size = 1;
    std::vector<Loop> loops;          // innermost first
    std::vector<int> incoming;        // edge ids, in edge order
    std::vector<uint64_t> producers;  // node_bits: what it calls
    std::vector<uint64_t> upstream;   // node_bits: its direct and transitive producers
    std::vector<uint64_t> distant;    // of these, the ones that many Funcs lie between
    std::vector<int> loop_of_dim;     // by dimension: the loop over that pure argument, or -1
    bool reads_image = false;         // a nonzero ImageCall count of any type
    std::array<int32_t, num_algorithm_features> features{};

    bool is_downstream_of(int node_id) const { return node_bits::contains(upstream, node_id); }
    bool is_far_downstream_of(int node_id) const { return node_bits::contains(distant, node_id); }
};

// What a Func computes of one dimension when a region is required of it (section 4.2).
// Symbols of a General expression: 2 * dimension + (0 for min, 1 for max), over the region *required*.
struct ComputedDimension {
    enum class Kind : uint8_t { EqualsRequired, UnionWithConstants, General };
    Kind kind = Kind::EqualsRequired;
    int64_t constant_min = 0;
    int64_t constant_max = 0;
    int expression_min = -1;
    int expression_max = -1;
};

// How the bound record of a Func follows from those of its consumers (sections 5.3 and 6.2), laid out to be read in one
// go: what Problem::derive() makes of edges, region_computed and loops.
struct BoundRules {
    // coefficient * limit + constant, or an expression.
    struct End {
        int64_t coefficient = 0;
        int64_t constant = 0;
        int loop = 0;         // the consumer stage's, whose limit it is
        int expression = -1;  // index into Problem::expressions, -1 if there is none
        bool of_max = false;
    };
    struct Dimension {
        End min;
        End max;
        uint32_t constant_loops = 0;            // bits of the loops that it moves with
        bool may_have_constant_extent = false;  // if these loops have
    };
    struct Consumer {
        int stage = 0;
        int node = 0;
        int first_loop = 0;  // position of the stage's loops in a Bound of the node
        int num_loops = 0;
        bool has_expressions = false;
        std::vector<Dimension> required;
        // The same by consumers of consumers, past Funcs that only pass on what is required of them: some, the farthest
        // first. One that lies between a level and what it reads, or is the level's own, saves those before it.
        std::vector<Consumer> beyond;
    };
    std::vector<Consumer> consumers;  // in edge order
    std::vector<LoopRule> loops;      // of all stages
    std::vector<int> looped;          // computed dimensions that these are; empty if any is something else
    bool computes_required = false;   // and no more
    bool computes_by_expressions = false;
    bool loops_by_expressions = false;
};

struct Node {
    int id = 0;
    std::string name;
    int dimensions = 0;
    std::vector<std::string> args;
    int64_t bytes_per_point = 0;
    int vector_size = 1;
    bool is_wrapper = false;
    bool is_input = false;
    bool is_output = false;
    bool is_pointwise = false;
    bool is_boundary_condition = false;
    bool is_extern = false;
    int first_stage = 0;
    int num_stages = 0;
    std::vector<ComputedDimension> region_computed;  // [dimensions]
    std::vector<Span> estimated_region;              // outputs: [dimensions]
    std::vector<int> unit_stride_dimensions;         // outputs, ascending
    std::vector<int> outgoing;                       // edge ids, in edge order

    // Layout of a Bound of this node: [0, D) required, [D, 2D) computed, then each stage's loops.
    std::vector<int> loops_offset;  // per stage index
    int bound_size = 0;
    BoundRules bound_rules;
};

struct Problem {
    std::string name;
    std::string target;
    std::string halide_version;
    int parallelism = 1;
    std::vector<Node> nodes;  // consumers before producers
    std::vector<Stage> stages;
    std::vector<Edge> edges;  // by consumer node, consumer stage, producer name
    std::vector<Expression> expressions;

    int num_nodes() const { return static_cast<int>(nodes.size()); }
    int num_stages() const { return static_cast<int>(stages.size()); }
    const Stage &stage(const Node &node, int index) const {
        return stages[static_cast<size_t>(node.first_stage) + index];
    }
    const Node &node_of(const Stage &stage) const { return nodes[static_cast<size_t>(stage.node)]; }
    // False if an expression can only be evaluated by Halide.
    bool is_portable() const;

    // Fills what follows from the rest: edge lists, upstream sets, loops of dimensions, bound layouts. Called once by
    // whoever builds a Problem.
    void derive();
};

// The same problem for a machine with another number of cores, at least 1.
Problem with_parallelism(Problem problem, int parallelism);

using ProblemRef = std::shared_ptr<const Problem>;

}  // namespace halidegym
