#include "transform/plan.h"

#include <cmath>

#include "problem/error.h"
#include "transform/text.h"

namespace halidegym {

namespace {

void check_steps(const PlanNode &node, const TransformProblem &problem) {
    if (!applies(node.step, problem)) {
        throw InvalidParameter(to_string(node.step) + " does not apply to the problem " + to_string(problem) +
                               "; among the steps that do are " +
                               to_string(steps_of(problem, {.rules = StepRules::Wide})));
    }
    const SubProblems subs = sub_problems(problem, node.step);
    const std::array children{node.first.get(), node.second.get()};
    for (size_t i = 0; i < children.size(); i++) {
        if ((children[i] != nullptr) != (i < subs.size())) {
            throw InvalidParameter(to_string(node.step) + " has the wrong number of sub-plans; it leaves " +
                                   std::to_string(subs.size()) + " problems");
        }
        if (children[i]) {
            check_steps(*children[i], subs[i].problem);
        }
    }
}

void visit_node(const PlanNode &node, const SubProblem &sub, int64_t runs, int level, const TransformPlan::Use &use) {
    use(node, sub, runs, level);
    const SubProblems subs = sub_problems(sub.problem, node.step);
    for (size_t i = 0; i < subs.size(); i++) {
        visit_node(i == 0 ? *node.first : *node.second, subs[i], runs * subs[i].runs, level + 1, use);
    }
}

}  // namespace

bool operator==(const PlanNode &a, const PlanNode &b) {
    const auto equal = [](const PlanNodeRef &x, const PlanNodeRef &y) { return x == y || (x && y && *x == *y); };
    return a.step == b.step && equal(a.first, b.first) && equal(a.second, b.second);
}

TransformPlan::TransformPlan(int n, PlanNodeRef root) : n_(n), root_(std::move(root)) {
    check_steps(*root_, whole_transform(n));
}

TransformPlan::TransformPlan(int n, std::string_view text) : n_(n), root_(parse_plan(whole_transform(n), text)) {}

std::string TransformPlan::text() const {
    return to_string(root_.get());
}

void TransformPlan::visit(const Use &use) const {
    visit_node(*root_, {.problem = whole_transform(n_)}, 1, 0, use);
}

double TransformPlan::flops() const {
    return 5.0 * n_ * std::log2(n_);
}

}  // namespace halidegym
