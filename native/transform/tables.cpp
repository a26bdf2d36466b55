#include "transform/tables.h"

#include <array>
#include <limits>

#include "transform/counts.h"

namespace halidegym {

namespace {

constexpr size_t num_boundaries = num_access_patterns * num_access_patterns;

size_t boundary_of(const PlanCost &cost) {
    return static_cast<size_t>(cost.entry) * num_access_patterns + static_cast<size_t>(cost.exit);
}

// The best plan of a problem among those that enter and leave it alike.
struct BestAtBoundary {
    PlanCost cost{std::numeric_limits<double>::infinity()};
    uint32_t choice = 0;
    std::array<uint8_t, 2> sub_boundaries{};

    bool exists() const { return cost.microseconds < std::numeric_limits<double>::infinity(); }
};
using BestByBoundary = std::array<BestAtBoundary, num_boundaries>;

void follow(const StepClosure &closure, const std::vector<BestByBoundary> &best, ProblemId id, size_t boundary,
            std::vector<uint32_t> &choices) {
    const BestAtBoundary &at = best[id][boundary];
    choices.push_back(at.choice);
    const StepChoice &choice = closure.choices(id)[at.choice];
    for (size_t i = 0; i < choice.num_subs(); i++) {
        follow(closure, best, choice.subs[i], at.sub_boundaries[i], choices);
    }
}

}  // namespace

TransformTables::TransformTables(StepClosure closure, TransformModel model)
    : closure_(std::move(closure)), model_(model), max_depths_(max_depths(closure_)) {
    const TransformModel without_context;
    std::vector<double> least;
    for (ProblemId id = 0; id < closure_.num_problems(); id++) {
        const auto choices = closure_.choices(id);
        least.push_back(std::numeric_limits<double>::infinity());
        fallbacks_.push_back(0);
        for (uint32_t i = 0; i < choices.size(); i++) {
            std::array<PlanCost, 2> subs;
            for (size_t sub = 0; sub < choices[i].num_subs(); sub++) {
                subs[sub].microseconds = least[choices[i].subs[sub]];
            }
            const double cost =
                without_context.combine(closure_.problem(id), choices[i].step, choices[i].runs, subs).microseconds;
            if (cost < least.back()) {
                least.back() = cost;
                fallbacks_.back() = i;
            }
        }
        const StepChoice &chosen = choices[fallbacks_.back()];
        std::array<PlanCost, 2> subs;
        for (size_t sub = 0; sub < chosen.num_subs(); sub++) {
            subs[sub] = fallback_costs_[chosen.subs[sub]];
        }
        fallback_costs_.push_back(cost_of(id, chosen, subs));
    }
}

PlanNodeRef TransformTables::fallback_plan(ProblemId id) const {
    const StepChoice &choice = closure_.choices(id)[fallback(id)];
    PlanNode node{choice.step, nullptr, nullptr};
    if (choice.num_subs() > 0) {
        node.first = fallback_plan(choice.subs[0]);
    }
    if (choice.num_subs() > 1) {
        node.second = fallback_plan(choice.subs[1]);
    }
    return std::make_shared<const PlanNode>(std::move(node));
}

TransformTables::Optimum TransformTables::optimum() const {
    std::vector<BestByBoundary> best(closure_.num_problems());
    const auto offer = [&](ProblemId id, const StepChoice &choice, uint32_t index, std::span<const PlanCost> subs) {
        const PlanCost cost = cost_of(id, choice, subs);
        BestAtBoundary &at = best[id][boundary_of(cost)];
        if (cost.microseconds < at.cost.microseconds) {
            at = {cost, index, {}};
            for (size_t i = 0; i < choice.num_subs(); i++) {
                at.sub_boundaries[i] = static_cast<uint8_t>(boundary_of(subs[i]));
            }
        }
    };
    for (ProblemId id = 0; id < closure_.num_problems(); id++) {
        const auto choices = closure_.choices(id);
        for (uint32_t i = 0; i < choices.size(); i++) {
            const StepChoice &choice = choices[i];
            if (choice.num_subs() == 0) {
                offer(id, choice, i, {});
                continue;
            }
            for (const BestAtBoundary &first : best[choice.subs[0]]) {
                if (!first.exists()) {
                    continue;
                }
                if (choice.num_subs() == 1) {
                    offer(id, choice, i, std::array{first.cost});
                    continue;
                }
                for (const BestAtBoundary &second : best[choice.subs[1]]) {
                    if (second.exists()) {
                        offer(id, choice, i, std::array{first.cost, second.cost});
                    }
                }
            }
        }
    }
    const BestByBoundary &whole = best[closure_.whole()];
    size_t least = 0;
    for (size_t boundary = 1; boundary < num_boundaries; boundary++) {
        least = whole[boundary].cost.microseconds < whole[least].cost.microseconds ? boundary : least;
    }
    Optimum optimum{whole[least].cost.microseconds, {}};
    follow(closure_, best, closure_.whole(), least, optimum.choices);
    return optimum;
}

}  // namespace halidegym
