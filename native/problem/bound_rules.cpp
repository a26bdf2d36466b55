#include "problem/bound_rules.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "problem/problem.h"

// Sections are those of docs/specification/function-dag.md.

namespace halidegym {

namespace {

using Consumer = BoundRules::Consumer;
using Dimension = BoundRules::Dimension;
using End = BoundRules::End;

constexpr size_t max_beyond = 8;  // of long chains, the nearest

constexpr auto is_general = [](const auto &rule) {
    return rule.kind == std::remove_cvref_t<decltype(rule)>::Kind::General;
};

bool moves(const EdgeBound &bound) {
    return bound.kind == EdgeBound::Kind::Affine && bound.loop >= 0;
}

End end_of(const EdgeBound &bound) {
    if (is_general(bound)) {
        return {.expression = bound.expression};
    }
    if (!moves(bound)) {
        return {.constant = bound.constant};
    }
    return {.coefficient = bound.coefficient, .constant = bound.constant, .loop = bound.loop, .of_max = bound.of_max};
}

Dimension dimension_of(const EdgeBound &min, const EdgeBound &max) {
    const auto may_be_constant = [](const EdgeBound &bound) {
        return !is_general(bound) && !bound.depends_on_parameter;
    };
    const auto loops = [](const EdgeBound &bound) { return moves(bound) ? uint32_t{1} << bound.loop : 0; };
    return {end_of(min), end_of(max), loops(min) | loops(max), may_be_constant(min) && may_be_constant(max)};
}

Consumer consumer_of(const Problem &problem, const Edge &edge) {
    const Stage &stage = problem.stages[static_cast<size_t>(edge.consumer_stage)];
    Consumer consumer;
    consumer.stage = stage.id;
    consumer.node = stage.node;
    consumer.first_loop = problem.node_of(stage).loops_offset[static_cast<size_t>(stage.index)];
    consumer.num_loops = static_cast<int>(stage.loops.size());
    consumer.has_expressions = std::ranges::any_of(edge.bounds, is_general);
    for (size_t end = 0; end < edge.bounds.size(); end += 2) {
        consumer.required.push_back(dimension_of(edge.bounds[end], edge.bounds[end + 1]));
    }
    return consumer;
}

// Whether the loops of the Func are the region that its only consumer requires, by sums of that one's limits.
bool passes_on(const Node &node) {
    const BoundRules &rules = node.bound_rules;
    return node.num_stages == 1 && !node.is_output && rules.consumers.size() == 1 && rules.computes_required &&
           rules.looped.size() == rules.loops.size() && !rules.consumers.front().has_expressions;
}

// Products of what is smaller stay far from the limits of 64 bits.
bool is_small(const Consumer &consumer) {
    return std::ranges::all_of(consumer.required, [](const Dimension &dimension) {
        return std::ranges::all_of(std::initializer_list<End>{dimension.min, dimension.max}, [](const End &end) {
            constexpr int64_t limit = 1 << 20;
            const auto is_within = [](int64_t number) { return -limit < number && number < limit; };
            return is_within(end.coefficient) && is_within(end.constant);
        });
    });
}

// What a Func requires of another by means of one between, whose loops are these dimensions of `outer`.
Consumer composed(const Consumer &inner, const std::vector<int> &looped, const Consumer &outer) {
    const auto dimension_at = [&](int loop) -> const Dimension & {
        return outer.required[static_cast<size_t>(looped[static_cast<size_t>(loop)])];
    };
    const auto end_through = [&](const End &end) {
        if (end.coefficient == 0) {
            return End{.constant = end.constant};
        }
        const End &between = end.of_max ? dimension_at(end.loop).max : dimension_at(end.loop).min;
        return End{.coefficient = end.coefficient * between.coefficient,
                   .constant = end.coefficient * between.constant + end.constant,
                   .loop = between.loop,
                   .of_max = between.of_max};
    };
    Consumer result{.stage = outer.stage,
                    .node = outer.node,
                    .first_loop = outer.first_loop,
                    .num_loops = outer.num_loops,
                    .required = {},
                    .beyond = {}};
    for (const Dimension &dimension : inner.required) {
        Dimension through{end_through(dimension.min), end_through(dimension.max), 0,
                          dimension.may_have_constant_extent};
        for (int loop = 0; loop < inner.num_loops; loop++) {
            if ((dimension.constant_loops >> loop) & 1) {
                through.constant_loops |= dimension_at(loop).constant_loops;
                through.may_have_constant_extent &= dimension_at(loop).may_have_constant_extent;
            }
        }
        result.required.push_back(through);
    }
    return result;
}

// Consumers come first, so those of this one have theirs already.
void find_beyond(const Problem &problem, Consumer &consumer) {
    const Node &node = problem.nodes[static_cast<size_t>(consumer.node)];
    if (consumer.has_expressions || !passes_on(node) || !is_small(consumer)) {
        return;
    }
    const Consumer &next = node.bound_rules.consumers.front();
    const auto append = [&](const Consumer &outer) {
        if (is_small(outer)) {
            consumer.beyond.push_back(composed(consumer, node.bound_rules.looped, outer));
        }
    };
    std::ranges::for_each(next.beyond, append);
    append(next);
    if (consumer.beyond.size() > max_beyond) {
        consumer.beyond.erase(consumer.beyond.begin(), consumer.beyond.end() - max_beyond);
    }
}

}  // namespace

void write_bound_rules(Problem &problem) {
    const auto is_dimension = [](const LoopRule &rule) { return rule.kind == LoopRule::Kind::ComputedDimension; };
    const auto is_required = [](const ComputedDimension &rule) {
        return rule.kind == ComputedDimension::Kind::EqualsRequired;
    };
    for (Node &node : problem.nodes) {
        BoundRules rules;
        for (const int e : node.outgoing) {
            rules.consumers.push_back(consumer_of(problem, problem.edges[static_cast<size_t>(e)]));
            find_beyond(problem, rules.consumers.back());
        }
        for (int s = 0; s < node.num_stages; s++) {
            const auto &loops = problem.stage(node, s).loops;
            rules.loops.insert(rules.loops.end(), loops.begin(), loops.end());
        }
        if (std::ranges::all_of(rules.loops, is_dimension)) {
            std::ranges::transform(rules.loops, std::back_inserter(rules.looped), &LoopRule::computed_dim);
        }
        rules.computes_required = std::ranges::all_of(node.region_computed, is_required);
        rules.computes_by_expressions = std::ranges::any_of(node.region_computed, is_general);
        rules.loops_by_expressions = std::ranges::any_of(rules.loops, is_general);
        node.bound_rules = std::move(rules);
    }
}

}  // namespace halidegym
