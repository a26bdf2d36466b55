#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "transform/closure.h"
#include "transform/model.h"
#include "transform/plan.h"

namespace halidegym {

// What is known of each problem of a space by the model alone.
class TransformTables {
public:
    TransformTables(StepClosure closure, TransformModel model);

    const StepClosure &closure() const { return closure_; }
    const TransformModel &model() const { return model_; }

    int max_depth(ProblemId id) const { return max_depths_[id]; }

    // The choice that begins the best plan if the context is left out, by its place, and what that plan costs. It
    // stands in for problems about which nothing is decided.
    uint32_t fallback(ProblemId id) const { return fallbacks_[id]; }
    const PlanCost &fallback_cost(ProblemId id) const { return fallback_costs_[id]; }
    PlanNodeRef fallback_plan(ProblemId id) const;

    PlanCost cost_of(ProblemId id, const StepChoice &choice, std::span<const PlanCost> subs) const {
        return model_.combine(closure_.problem(id), choice.step, choice.runs, subs);
    }

    // The least cost with the context, and the choices that lead to it, in the order of a plan's text.
    struct Optimum {
        double microseconds;
        std::vector<uint32_t> choices;
    };
    Optimum optimum() const;

private:
    StepClosure closure_;
    TransformModel model_;
    std::vector<int> max_depths_;
    std::vector<uint32_t> fallbacks_;
    std::vector<PlanCost> fallback_costs_;
};

}  // namespace halidegym
