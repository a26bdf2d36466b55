#pragma once

#include <map>
#include <string>
#include <vector>

#include <Halide.h>

namespace halidegym {

// The Funcs of a pipeline in the order in which the problem numbers them
// (docs/specification/function-dag.md, section 2).
struct FuncGraph {
    std::vector<Halide::Internal::Function> outputs;
    std::map<std::string, Halide::Internal::Function> environment;
    std::vector<Halide::Internal::Function> functions;  // by node id: consumers before producers
    std::map<std::string, int> node_ids;                // by full Func name
    Halide::Internal::FuncValueBounds value_bounds;     // of every Func, independent of any stage

    bool is_output(const Halide::Internal::Function &function) const;
};

FuncGraph build_func_graph(const Halide::Pipeline &pipeline);

inline int num_stages(const Halide::Internal::Function &function) {
    return 1 + static_cast<int>(function.updates().size());
}

// Stage 0 is the pure definition.
inline const Halide::Internal::Definition &definition_of(const Halide::Internal::Function &function, int stage) {
    return stage == 0 ? function.definition() : function.update(stage - 1);
}

}  // namespace halidegym
