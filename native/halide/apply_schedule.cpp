#include "halide/apply_schedule.h"

#include <string>
#include <vector>

#include "halide/base_name.h"
#include "halide/func_graph.h"
#include "problem/error.h"

namespace halidegym {
namespace {

using Kind = Directive::Kind;

// Its own ones, without the synthetic outermost loop.
std::vector<Halide::Internal::Dim> loops_of(const Halide::Internal::Definition &definition) {
    if (!definition.defined()) {
        return {};
    }
    std::vector<Halide::Internal::Dim> loops = definition.schedule().dims();
    loops.pop_back();
    return loops;
}

// A pipeline as the problem numbers it.
class Scheduler {
public:
    Scheduler(const Problem &problem, Halide::Pipeline pipeline) : problem_(problem) {
        for (const Node &node : problem.nodes) {
            funcs_.push_back(find(node, pipeline));
        }
        for (const Stage &stage : problem.stages) {
            loops_.push_back(loops_of(definition_of(funcs_[stage.node].function(), stage.index)));
        }
        for (const Node &node : problem.nodes) {
            check(node);
        }
    }

    void apply(const StageDirectives &scheduled) {
        const Stage &stage = problem_.stages.at(scheduled.stage);
        Halide::Func func = funcs_[stage.node];
        Halide::Stage handle = stage.index == 0 ? Halide::Stage(func) : func.update(stage.index - 1);
        for (const Directive &directive : scheduled.directives) {
            apply(stage, directive, func, handle);
        }
    }

private:
    void apply(const Stage &stage, const Directive &directive, Halide::Func &func, Halide::Stage &handle) const {
        std::vector<Halide::VarOrRVar> loops;
        for (const LoopVariable &variable : directive.loops) {
            loops.push_back(loop(stage.id, variable));
        }
        switch (directive.kind) {
        case Kind::StoreInStack:
            func.store_in(Halide::MemoryType::Stack);
            break;
        case Kind::Split:
            handle.split(loops.at(0), loops.at(0), loops.at(1), static_cast<int>(directive.factor),
                         tail(directive.tail));
            break;
        case Kind::Unroll:
            handle.unroll(loops.at(0));
            break;
        case Kind::Vectorize:
            handle.vectorize(loops.at(0));
            break;
        case Kind::ComputeAt:
            func.compute_at(position(directive.position));
            break;
        case Kind::StoreAt:
            func.store_at(position(directive.position));
            break;
        case Kind::Reorder:
            handle.reorder(loops);
            break;
        case Kind::Fuse:
            handle.fuse(loops.at(0), loops.at(1), loops.at(0));
            break;
        case Kind::Parallel:
            handle.parallel(loops.at(0));
            break;
        case Kind::ReorderStorage: {
            std::vector<Halide::Var> arguments;
            for (const int dimension : directive.dimensions) {
                arguments.push_back(func.args().at(dimension));
            }
            func.reorder_storage(arguments);
            break;
        }
        }
    }

    Halide::VarOrRVar loop(int stage, const LoopVariable &variable) const {
        const Halide::Internal::Dim &dim = loops_.at(stage).at(variable.loop);
        return {loop_name(dim.var, variable), dim.is_rvar()};
    }

    Halide::LoopLevel position(const LoopPosition &position) const {
        if (position.is_root()) {
            return Halide::LoopLevel::root();
        }
        const Halide::Func &func = funcs_[problem_.stages.at(position.stage).node];
        return position.variable ? Halide::LoopLevel(func, loop(position.stage, *position.variable))
                                 : Halide::LoopLevel(func, Halide::Var::outermost());
    }

    static Halide::TailStrategy tail(TailStrategy strategy) {
        switch (strategy) {
        case TailStrategy::RoundUp:
            return Halide::TailStrategy::RoundUp;
        case TailStrategy::ShiftInwards:
            return Halide::TailStrategy::ShiftInwards;
        case TailStrategy::GuardWithIf:
            break;
        }
        return Halide::TailStrategy::GuardWithIf;
    }

    Halide::Func find(const Node &node, Halide::Pipeline &pipeline) const {
        const Halide::Func func = func_at(static_cast<size_t>(problem_.num_nodes() - 1 - node.id), pipeline);
        if (base_name(func.name()) != base_name(node.name) || func.dimensions() != node.dimensions ||
            (!node.is_input && func.num_update_definitions() != node.num_stages - 1)) {
            refuse("has '" + func.name() + "' in the place of Func '" + node.name + "'");
        }
        return func;
    }

    // In the pipeline's own order, producers first; it does not tell how many there are.
    Halide::Func func_at(size_t index, Halide::Pipeline &pipeline) const {
        try {
            return pipeline.get_func(index);
        } catch (const Halide::Error &) {
            refuse("has fewer than " + std::to_string(problem_.num_nodes()) + " Funcs");
        }
    }

    void check(const Node &node) const {
        const auto callees = Halide::Internal::find_direct_calls(funcs_[node.id].function());
        for (int s = 0; s < node.num_stages && !node.is_input; s++) {
            const Stage &stage = problem_.stage(node, s);
            for (const int edge : stage.incoming) {
                const Halide::Func &producer = funcs_[problem_.edges[edge].producer];
                if (!callees.contains(producer.name())) {
                    refuse("has a Func '" + node.name + "' that does not call '" + producer.name() + "'");
                }
            }
            const auto &loops = loops_[stage.id];
            const auto &definition = definition_of(funcs_[node.id].function(), s);
            if (definition.defined() && !definition.schedule().splits().empty()) {
                refuse("has a schedule already, at stage '" + stage.name + "'");
            }
            if (!node.is_extern && loops.size() != stage.loops.size()) {
                refuse("has other loops in stage '" + stage.name + "'");
            }
        }
    }

    [[noreturn]] void refuse(const std::string &reason) const {
        throw InvalidParameter("the pipeline " + reason +
                               "; apply the schedule to an unscheduled copy of the pipeline '" + problem_.name +
                               "' that it was made for");
    }

    const Problem &problem_;
    std::vector<Halide::Func> funcs_;                        // by node
    std::vector<std::vector<Halide::Internal::Dim>> loops_;  // by stage, before any call
};

}  // namespace

void apply_schedule(const Problem &problem, std::span<const StageDirectives> stages, Halide::Pipeline pipeline) {
    Scheduler scheduler(problem, pipeline);
    for (const StageDirectives &scheduled : stages) {
        scheduler.apply(scheduled);
    }
    pipeline.invalidate_cache();
}

}  // namespace halidegym
