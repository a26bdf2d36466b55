#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transform/steps.h"

namespace halidegym {

using ProblemId = uint32_t;

// A step that applies to a problem, with the problems that it leaves.
struct StepChoice {
    TransformStep step;
    std::array<ProblemId, 2> subs{};
    std::array<int32_t, 2> runs{};

    size_t num_subs() const { return num_sub_problems(step.kind); }
};

// All problems that steps lead to from a transform of a whole array, and what can be done about each. Problems come
// after those that their steps leave, the whole transform last, so that one pass over them is dynamic programming.
class StepClosure {
public:
    // Throws InvalidParameter.
    StepClosure(int n, TransformRules rules);

    int n() const { return problems_.back().n; }
    const TransformRules &rules() const { return rules_; }
    size_t num_problems() const { return problems_.size(); }
    size_t num_choices() const { return choices_.size(); }
    ProblemId whole() const { return static_cast<ProblemId>(problems_.size() - 1); }
    const TransformProblem &problem(ProblemId id) const { return problems_[id]; }
    std::span<const StepChoice> choices(ProblemId id) const {
        return std::span(choices_).subspan(first_choice_[id], first_choice_[id + 1] - first_choice_[id]);
    }
    // Each step that applies to any of the problems, in the order of `steps_of`.
    std::vector<TransformStep> distinct_steps() const;

private:
    TransformRules rules_;
    std::vector<TransformProblem> problems_;
    std::vector<uint32_t> first_choice_{0};  // by problem, and the end
    std::vector<StepChoice> choices_;
};

}  // namespace halidegym
