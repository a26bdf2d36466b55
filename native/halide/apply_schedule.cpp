#include "halide/apply_schedule.h"

#include <string>
#include <utility>
#include <vector>

#include "halide/func_graph.h"
#include "halide/match_funcs.h"
#include "nest/check_directives.h"
#include "nest/loop_names.h"

namespace halidegym {
namespace {

using Kind = Directive::Kind;

// Its own ones, without the synthetic outermost loop.
std::vector<Halide::Internal::Dim> loops_of(const Halide::Internal::Definition &definition) {
    std::vector<Halide::Internal::Dim> loops = definition.schedule().dims();
    loops.pop_back();
    return loops;
}

std::vector<std::string> names_of(const std::vector<Halide::Internal::Dim> &loops) {
    std::vector<std::string> names;
    for (const Halide::Internal::Dim &loop : loops) {
        names.push_back(loop.var);
    }
    return names;
}

// A pipeline as the problem numbers it.
class Scheduler {
public:
    // `funcs`: by node.
    Scheduler(const Problem &problem, std::vector<Halide::Func> funcs, std::span<const StageDirectives> stages)
        : problem_(problem), funcs_(std::move(funcs)) {
        for (const Stage &stage : problem.stages) {
            const Halide::Internal::Function function = funcs_[stage.node].function();
            loops_.push_back(loops_of(definition_of(function, stage.index)));
            names_.emplace_back(names_of(loops_.back()), function.args(), std::vector<int>(loops_.back().size(), 0));
        }
        for (const StageDirectives &scheduled : stages) {
            const std::vector<Halide::Internal::Dim> &loops = loops_.at(scheduled.stage);
            names_[scheduled.stage] =
                LoopNames(names_of(loops), funcs_[problem.stages[scheduled.stage].node].function().args(),
                          splits_by_loop(scheduled, loops.size()));
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
        return {names_.at(stage)(variable), dim.is_rvar()};
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

    const Problem &problem_;
    std::vector<Halide::Func> funcs_;                        // by node
    std::vector<std::vector<Halide::Internal::Dim>> loops_;  // by stage, before any call
    std::vector<LoopNames> names_;                           // by stage
};

}  // namespace

void apply_schedule(const Problem &problem, std::span<const StageDirectives> stages, const Halide::Pipeline &original,
                    Halide::Pipeline pipeline) {
    check_directives(problem, stages);
    Scheduler scheduler(problem, match_funcs(problem, original, pipeline), stages);
    for (const StageDirectives &scheduled : stages) {
        scheduler.apply(scheduled);
    }
    pipeline.invalidate_cache();
}

}  // namespace halidegym
