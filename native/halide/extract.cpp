#include "halide/extract.h"

#include <algorithm>
#include <map>
#include <utility>

#include "halide/edges.h"
#include "halide/existing_schedule.h"
#include "halide/featurize.h"
#include "halide/func_graph.h"
#include "halide/output_estimates.h"
#include "halide/regions.h"
#include "halide/substitute_estimates.h"
#include "halide/target.h"
#include "halide/type_scan.h"
#include "nest/root_extents.h"
#include "problem/error.h"

// Sections and quirks are those of docs/specification/function-dag.md.

namespace halidegym {

using namespace Halide::Internal;

namespace {

void require_unscheduled(const Function &function) {
    const std::string schedule = existing_schedule(function);
    if (!schedule.empty()) {
        throw UnsupportedPipeline("The Func '" + function.name() + "' already has scheduling directives (" + schedule +
                                  "). Hand over the algorithm without a schedule.");
    }
}

void require_loops(const Function &function) {
    if (function.has_extern_definition()) {
        throw UnsupportedPipeline("The Func '" + function.name() +
                                  "' is defined outside of Halide (define_extern), so that neither its loops nor what "
                                  "it reads are known. Schedule what comes before it and after it as pipelines of "
                                  "their own.");
    }
    const auto require = [&](const std::string &variable) {
        if (variable.find('.') != std::string::npos || variable == Halide::Var::outermost().name()) {
            throw UnsupportedPipeline("The Func '" + function.name() + "' has the variable '" + variable +
                                      "', which Halide schedules no loop of: such names are its own. Give it a name "
                                      "without dots.");
        }
    };
    std::ranges::for_each(function.args(), require);
    for (int s = 0; s < num_stages(function); s++) {
        std::ranges::for_each(definition_of(function, s).schedule().rvars(), require, &ReductionVariable::var);
    }
}

Node make_node(int id, const Function &function, bool is_output, int first_stage) {
    Node node;
    node.id = id;
    node.name = function.name();
    node.dimensions = function.dimensions();
    node.args = function.args();
    for (const Halide::Expr &value : function.values()) {
        node.bytes_per_point += value.type().bytes();
    }
    node.vector_size = 0;
    node.is_output = is_output;
    node.is_wrapper = function.is_wrapper() != nullptr;
    node.is_extern = function.has_extern_definition();
    // No other boundary condition is recognised by the reference (section 4.6).
    node.is_boundary_condition = !function.has_update_definition() && function.name().starts_with("repeat_edge");
    node.first_stage = first_stage;
    node.num_stages = num_stages(function);
    return node;
}

// The analysis of one Func after the other; within a Func, of one stage after the other. The steps are in the order of
// section 4, since the region of a Func grows from stage to stage and the first error is the one reported.
class Extraction {
public:
    Extraction(FuncGraph graph, const Halide::Target &target) : graph(std::move(graph)), target(target) {}

    Problem run() {
        for (const Function &function : graph.functions) {
            add_node(function);
        }
        problem.derive();
        require_usable_extents(problem, Regions(problem));
        for (Stage &stage : problem.stages) {
            add_features(stage);
        }
        return std::move(problem);
    }

private:
    FuncGraph graph;
    Halide::Target target;
    Problem problem;

    void add_node(const Function &function) {
        require_loops(function);
        require_unscheduled(function);
        problem.nodes.push_back(
            make_node(problem.num_nodes(), function, graph.is_output(function), problem.num_stages()));
        SymbolicRegion region;
        for (int s = 0; s < num_stages(function); s++) {
            region = widen_region(std::move(region), graph, function, s);
            add_stage(function, s, region);
        }
    }

    void add_stage(const Function &function, int index, const SymbolicRegion &region) {
        Node &node = problem.nodes.back();
        Stage stage;
        stage.id = problem.num_stages();
        stage.node = node.id;
        stage.index = index;
        stage.name = function.name() + (index == 0 ? "" : ".update(" + std::to_string(index - 1) + ")");
        if (index + 1 == node.num_stages) {
            node.region_computed = classify_region(region, function, problem.expressions);
        }
        stage.loops = stage_loops(function, index, region, problem.expressions);

        const Halide::Expr bundle = bundle_of(definition_of(function, index));
        const TypeScan scan = scan_types(bundle, node.args);
        stage.vector_size = target.natural_vector_size(scan.narrowest);
        node.vector_size = std::max(node.vector_size, stage.vector_size);

        if (node.is_output && index == 0) {
            node.estimated_region = estimated_region(function);
            node.unit_stride_dimensions = unit_stride_dimensions(function);
        }

        std::vector<Edge> edges = stage_edges(graph, function, stage, bundle, scan.calls,
                                              static_cast<int>(problem.edges.size()), problem.expressions);
        const bool pure = !function.has_update_definition();
        node.is_pointwise = pure && (edges.empty() || scan.pointwise);
        node.is_input = pure && edges.empty() && node.is_wrapper && !node.is_output;

        std::move(edges.begin(), edges.end(), std::back_inserter(problem.edges));
        problem.stages.push_back(std::move(stage));
    }

    void add_features(Stage &stage) {
        StageFeatures features = featurize(graph.functions[stage.node], stage.index, stage.loops);
        stage.features = features.counts;
        stage.reads_image = features.reads_image;
        for (const int edge : stage.incoming) {
            const std::string &producer = problem.nodes[problem.edges[edge].producer].name;
            problem.edges[edge].jacobians = std::move(features.jacobians[producer]);
        }
    }
};

}  // namespace

Problem extract_problem(const Halide::Pipeline &pipeline, const std::string &target, int parallelism,
                        std::string name) {
    const Halide::Target resolved = known_target(target);
    try {
        Problem problem = Extraction(build_func_graph(pipeline), resolved).run();
        problem.name = std::move(name);
        problem.target = resolved.to_string();
        problem.halide_version = std::to_string(HALIDE_VERSION_MAJOR) + "." + std::to_string(HALIDE_VERSION_MINOR) +
                                 "." + std::to_string(HALIDE_VERSION_PATCH);
        return with_parallelism(std::move(problem), parallelism);
    } catch (const Halide::Error &e) {
        throw UnsupportedPipeline("Halide cannot analyse the pipeline '" + name + "': " + e.what() +
                                  "\nChange the definition or estimate that the message names.");
    }
}

}  // namespace halidegym
