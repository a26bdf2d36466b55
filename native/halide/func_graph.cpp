#include "halide/func_graph.h"

#include <algorithm>

namespace halidegym {

using namespace Halide::Internal;

bool FuncGraph::is_output(const Function &function) const {
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const Function &output) { return output.same_as(function); });
}

FuncGraph build_func_graph(const Halide::Pipeline &pipeline) {
    FuncGraph graph;
    for (const Halide::Func &output : pipeline.outputs()) {
        graph.outputs.push_back(output.function());
    }
    graph.environment = build_environment(graph.outputs);
    const std::vector<std::string> order = topological_order(graph.outputs, graph.environment);
    graph.value_bounds = compute_function_value_bounds(order, graph.environment);
    for (auto name = order.rbegin(); name != order.rend(); ++name) {
        graph.node_ids[*name] = static_cast<int>(graph.functions.size());
        graph.functions.push_back(graph.environment.at(*name));
    }
    return graph;
}

}  // namespace halidegym
