#include "halide/edges.h"

#include <optional>
#include <span>

#include "halide/compile_expression.h"
#include "halide/regions.h"
#include "halide/substitute_estimates.h"
#include "problem/error.h"

namespace halidegym {

using namespace Halide::Internal;
using Halide::Expr;

namespace {

struct AffineShape {
    const Variable *variable;  // null for a constant
    int64_t coefficient;
    int64_t constant;
};

// By syntax alone; nothing is simplified or commuted first, so k - v and c * v are not affine
// (docs/specification/function-dag.md, section 5.2).
std::optional<AffineShape> match_affine(const Expr &e) {
    if (const auto k = as_const_int(e)) {
        return AffineShape{nullptr, 0, *k};
    }
    if (const Variable *v = e.as<Variable>()) {
        return AffineShape{v, 1, 0};
    }
    if (const Mul *mul = e.as<Mul>()) {
        const Variable *v = mul->a.as<Variable>();
        const auto c = as_const_int(mul->b);
        return v && c ? std::optional(AffineShape{v, *c, 0}) : std::nullopt;
    }
    if (const Add *add = e.as<Add>()) {
        const auto k = as_const_int(add->b);
        const auto scaled = add->a.as<Add>() ? std::nullopt : match_affine(add->a);
        return k && scaled && scaled->variable ? std::optional(AffineShape{scaled->variable, scaled->coefficient, *k})
                                               : std::nullopt;
    }
    return std::nullopt;
}

// As its author knows it: of an input, the name of the parameter, not of Halide's wrapper around it.
std::string known_name(const Function &function) {
    const Call *load = function.is_wrapper();
    return load && load->param.defined() ? load->param.name() : function.name();
}

EdgeBound make_bound(const Expr &bound, std::span<const std::string> symbols, const std::string &context,
                     std::vector<Expression> &expressions) {
    const Expr e = simplify(substitute_estimates(bound));
    EdgeBound record;
    record.depends_on_parameter = has_parameter(bound);
    const auto affine = match_affine(e);
    if (!affine) {
        record.kind = EdgeBound::Kind::General;
        record.expression = static_cast<int>(expressions.size());
        expressions.push_back(compile_expression(e, symbols));
        return record;
    }
    record.constant = affine->constant;
    if (affine->variable) {
        int symbol = 0;
        while (symbol < static_cast<int>(symbols.size()) && symbols[symbol] != affine->variable->name) {
            symbol++;
        }
        if (symbol == static_cast<int>(symbols.size())) {
            throw UnsupportedPipeline("The region that " + context + " needs depends on '" + affine->variable->name +
                                      "', which is no loop of the consumer. Write the index with the Func's own "
                                      "variables and reduction domain.");
        }
        record.kind = EdgeBound::Kind::Affine;
        record.coefficient = affine->coefficient;
        record.loop = symbol / 2;
        record.of_max = symbol % 2 == 1;
    }
    return record;
}

}  // namespace

std::vector<Edge> stage_edges(const FuncGraph &graph, const Function &consumer, const Stage &stage, const Expr &bundle,
                              const std::map<std::string, int> &calls, int first_id,
                              std::vector<Expression> &expressions) {
    std::vector<std::string> loop_variables;
    for (const Loop &loop : stage.loops) {
        loop_variables.push_back(loop.variable);
    }
    const std::vector<std::string> symbols = limit_symbols(consumer.name(), loop_variables);
    const Scope<Interval> scope = variable_scope(consumer, stage.index, ReductionBounds::Symbolic);

    std::vector<Edge> edges;
    for (const auto &[name, box] : boxes_required(substitute_estimates(bundle), scope, graph.value_bounds)) {
        if (name == consumer.name() || !graph.environment.contains(name)) {
            continue;  // self-loads and images
        }
        Edge edge;
        edge.id = first_id + static_cast<int>(edges.size());
        edge.producer = graph.node_ids.at(name);
        edge.consumer_stage = stage.id;
        edge.calls = calls.at(name);
        const std::string context = "'" + stage.name + "' needs of '" + known_name(graph.environment.at(name)) + "'";
        for (size_t d = 0; d < box.size(); d++) {
            if (!box.bounds[d].is_bounded()) {
                throw UnsupportedPipeline("What " + context + " is unbounded in dimension " + std::to_string(d) +
                                          ": the index is read from data or otherwise unlimited. Clamp it.");
            }
            edge.bounds.push_back(make_bound(box.bounds[d].min, symbols, context, expressions));
            edge.bounds.push_back(make_bound(box.bounds[d].max, symbols, context, expressions));
        }
        edges.push_back(std::move(edge));
    }
    return edges;
}

}  // namespace halidegym
