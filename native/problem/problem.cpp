#include "problem/problem.h"

#include <algorithm>
#include <bit>
#include <string>

#include "problem/bound_rules.h"
#include "problem/error.h"

namespace halidegym {

namespace {

constexpr int many_funcs = 8;  // what follows through fewer takes no longer to derive than to look up

void list_edges(Problem &problem) {
    for (Node &node : problem.nodes) {
        node.outgoing.clear();
    }
    for (Stage &stage : problem.stages) {
        stage.incoming.clear();
    }
    for (const Edge &edge : problem.edges) {
        problem.nodes[edge.producer].outgoing.push_back(edge.id);
        problem.stages[edge.consumer_stage].incoming.push_back(edge.id);
    }
}

// Producers come last, so one pass from the last node to the first sees every producer before its consumers. A stage
// depends on all the stages of its producers, but inherits nothing from earlier stages of its own Func
// (docs/specification/function-dag.md, section 7).
void find_upstream(Problem &problem) {
    const size_t words = node_bits::num_words(problem.nodes.size());
    for (auto node = problem.nodes.rbegin(); node != problem.nodes.rend(); ++node) {
        for (int s = 0; s < node->num_stages; s++) {
            Stage &stage = problem.stages[node->first_stage + s];
            stage.producers.assign(words, 0);
            stage.upstream.assign(words, 0);
            for (const int edge : stage.incoming) {
                const Node &producer = problem.nodes[problem.edges[edge].producer];
                node_bits::insert(stage.producers, producer.id);
                node_bits::insert(stage.upstream, producer.id);
                for (int k = 0; k < producer.num_stages; k++) {
                    node_bits::unite(stage.upstream, problem.stage(producer, k).upstream);
                }
            }
        }
    }
}

// The Funcs between a stage and a producer are upstream of the one and downstream of the other.
void find_distant(Problem &problem) {
    const size_t words = node_bits::num_words(problem.nodes.size());
    std::vector<uint64_t> downstream(words);
    for (Stage &stage : problem.stages) {
        stage.distant.assign(words, 0);
    }
    for (const Node &node : problem.nodes) {
        std::ranges::fill(downstream, 0);
        for (const Stage &stage : problem.stages) {
            if (stage.is_downstream_of(node.id)) node_bits::insert(downstream, stage.node);
        }
        for (Stage &stage : problem.stages) {
            if (!stage.is_downstream_of(node.id)) continue;
            int between = 0;
            for (size_t word = 0; word < words; word++) {
                between += std::popcount(stage.upstream[word] & downstream[word]);
            }
            if (between >= many_funcs) node_bits::insert(stage.distant, node.id);
        }
    }
}

void find_loops_of_dimensions(Problem &problem) {
    for (Stage &stage : problem.stages) {
        stage.loop_of_dim.clear();
        for (const std::string &arg : problem.node_of(stage).args) {
            const auto loop = std::ranges::find(stage.loops, arg, &Loop::variable);
            stage.loop_of_dim.push_back(loop == stage.loops.end() ? -1 : static_cast<int>(loop - stage.loops.begin()));
        }
    }
}

void lay_out_bounds(Problem &problem) {
    for (Node &node : problem.nodes) {
        node.loops_offset.clear();
        int offset = 2 * node.dimensions;
        for (int s = 0; s < node.num_stages; s++) {
            node.loops_offset.push_back(offset);
            offset += static_cast<int>(problem.stage(node, s).loops.size());
        }
        node.bound_size = offset;
    }
}

}  // namespace

bool Problem::is_portable() const {
    return std::all_of(expressions.begin(), expressions.end(), [](const Expression &e) { return e.is_portable(); });
}

void Problem::derive() {
    list_edges(*this);
    find_upstream(*this);
    find_distant(*this);
    find_loops_of_dimensions(*this);
    lay_out_bounds(*this);
    write_bound_rules(*this);
}

Problem with_parallelism(Problem problem, int parallelism) {
    if (parallelism < 1) {
        throw InvalidParameter("parallelism is " + std::to_string(parallelism) +
                               "; it counts the cores of the machine, so give at least 1.");
    }
    problem.parallelism = parallelism;
    return problem;
}

LoadJacobian operator*(const LoadJacobian &a, const LoadJacobian &b) {
    if (a.columns != 0 && a.columns != b.rows) {
        throw InternalError("Product of two load Jacobians: the left one has " + std::to_string(a.columns) +
                            " columns, the right one " + std::to_string(b.rows) + " rows.");
    }
    LoadJacobian product;
    product.rows = a.rows;
    product.columns = a.rows == 0 ? 0 : b.columns;
    product.count = a.count * b.count;
    product.entries.reserve(static_cast<size_t>(product.rows) * product.columns);
    for (int i = 0; i < product.rows; i++) {
        for (int j = 0; j < product.columns; j++) {
            Rational sum = Rational::zero();
            for (int k = 0; k < a.columns; k++) {
                sum = sum + a.entry(i, k) * b.entry(k, j);
            }
            product.entries.push_back(sum);
        }
    }
    return product;
}

}  // namespace halidegym
