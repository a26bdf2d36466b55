#include "nest/check_directives.h"

#include <algorithm>
#include <string>
#include <vector>

#include "problem/error.h"

namespace halidegym {
namespace {

using Kind = Directive::Kind;

bool is_index(int index, size_t size) {
    return index >= 0 && static_cast<size_t>(index) < size;
}

size_t num_splits(const StageDirectives &scheduled) {
    return static_cast<size_t>(std::ranges::count(scheduled.directives, Kind::Split, &Directive::kind));
}

// How many loops a call takes at least; none is of another kind.
size_t min_loops(const Directive &directive) {
    switch (directive.kind) {
    case Kind::Split:
    case Kind::Fuse:
        return 2;
    case Kind::Unroll:
    case Kind::Vectorize:
    case Kind::Parallel:
        return 1;
    default:
        return 0;
    }
}

class Check {
public:
    Check(const Problem &problem, std::span<const StageDirectives> stages)
        : problem_(problem), splits_(problem.stages.size(), 0) {
        for (const StageDirectives &scheduled : stages) {
            splits_[static_cast<size_t>(stage(scheduled.stage).id)] = num_splits(scheduled);
        }
    }

    void run(const StageDirectives &scheduled) const {
        const Stage &of = stage(scheduled.stage);
        check(of, scheduled.loops);
        for (const Directive &directive : scheduled.directives) {
            check(of, directive);
        }
    }

private:
    const Stage &stage(int id) const {
        require(is_index(id, problem_.stages.size()), "there is no stage " + std::to_string(id));
        return problem_.stages[static_cast<size_t>(id)];
    }

    void check(const Stage &of, const std::vector<LoopVariable> &loops) const {
        for (const auto &[loop, splits] : loops) {
            require(is_index(loop, of.loops.size()), "'" + of.name + "' has no loop " + std::to_string(loop));
            require(is_index(splits, splits_[static_cast<size_t>(of.id)] + 1),
                    "a loop of '" + of.name + "' is not split " + std::to_string(splits) + " times");
        }
    }

    void check(const Stage &of, const Directive &directive) const {
        check(of, directive.loops);
        require(directive.loops.size() >= min_loops(directive), "a call on '" + of.name + "' lacks a loop");
        for (const int dimension : directive.dimensions) {
            require(is_index(dimension, problem_.node_of(of).args.size()),
                    "'" + of.name + "' has no argument " + std::to_string(dimension));
        }
        const LoopPosition &position = directive.position;
        if (!position.is_root()) {
            const Stage &host = stage(position.stage);
            check(host, position.variable ? std::vector{*position.variable} : std::vector<LoopVariable>());
        }
    }

    void require(bool holds, const std::string &why) const {
        if (!holds) {
            throw InvalidParameter("The directives are not of '" + problem_.name + "': " + why +
                                   ". Give those of one of its own schedules.");
        }
    }

    const Problem &problem_;
    std::vector<size_t> splits_;  // calls, by stage
};

}  // namespace

void check_directives(const Problem &problem, std::span<const StageDirectives> stages) {
    const Check check(problem, stages);
    for (const StageDirectives &scheduled : stages) {
        check.run(scheduled);
    }
}

}  // namespace halidegym
