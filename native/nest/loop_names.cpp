#include "nest/loop_names.h"

#include <algorithm>
#include <set>
#include <utility>

#include "nest/check_directives.h"

namespace halidegym {
namespace {

std::vector<std::string> inner_names(const std::string &stem, int splits) {
    std::vector<std::string> names;
    for (int i = 1; i <= splits; i++) {
        names.push_back(stem + std::string(static_cast<size_t>(i), 'i'));
    }
    return names;
}

}  // namespace

std::vector<int> splits_by_loop(const StageDirectives &scheduled, size_t num_loops) {
    std::vector<int> splits(num_loops, 0);
    for (const Directive &directive : scheduled.directives) {
        for (const LoopVariable &variable : directive.loops) {
            int &most = splits.at(static_cast<size_t>(variable.loop));
            most = std::max(most, variable.splits);
        }
    }
    return splits;
}

LoopNames::LoopNames(std::vector<std::string> loops, const std::vector<std::string> &arguments,
                     const std::vector<int> &splits)
    : loops_(std::move(loops)), stems_(loops_) {
    std::set<std::string> taken(loops_.begin(), loops_.end());
    taken.insert(arguments.begin(), arguments.end());
    for (size_t i = 0; i < stems_.size(); i++) {
        std::vector<std::string> names = inner_names(stems_[i], splits[i]);
        while (std::any_of(names.begin(), names.end(), [&](const auto &name) { return taken.contains(name); })) {
            stems_[i] += '_';
            names = inner_names(stems_[i], splits[i]);
        }
        taken.insert(names.begin(), names.end());
    }
}

std::string LoopNames::operator()(const LoopVariable &variable) const {
    const auto loop = static_cast<size_t>(variable.loop);
    return variable.splits == 0 ? loops_.at(loop)
                                : stems_.at(loop) + std::string(static_cast<size_t>(variable.splits), 'i');
}

std::vector<LoopNames> loop_names(const Problem &problem, std::span<const StageDirectives> stages) {
    check_directives(problem, stages);
    std::vector<std::vector<int>> splits;
    for (const Stage &stage : problem.stages) {
        splits.emplace_back(stage.loops.size(), 0);
    }
    for (const StageDirectives &scheduled : stages) {
        splits.at(scheduled.stage) = splits_by_loop(scheduled, problem.stages[scheduled.stage].loops.size());
    }
    std::vector<LoopNames> names;
    for (const Stage &stage : problem.stages) {
        std::vector<std::string> loops;
        for (const Loop &loop : stage.loops) {
            loops.push_back(loop.variable);
        }
        names.emplace_back(std::move(loops), problem.node_of(stage).args, splits[stage.id]);
    }
    return names;
}

}  // namespace halidegym
