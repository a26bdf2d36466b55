#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "transform/steps.h"

namespace halidegym {

struct PlanNode;
using PlanNodeRef = std::shared_ptr<const PlanNode>;

// A step, with what is done about the problems that it leaves: as many children as it has sub-problems.
struct PlanNode {
    TransformStep step;
    PlanNodeRef first, second;

    friend bool operator==(const PlanNode &a, const PlanNode &b);
};

// How a transform of a size is computed: an immutable tree of steps, each of which applies to its problem.
class TransformPlan {
public:
    // Throws InvalidParameter, which names the problem and the steps that apply to it, if one does not.
    TransformPlan(int n, PlanNodeRef root);
    // From text as in transform/text.h.
    TransformPlan(int n, std::string_view text);

    int n() const { return n_; }
    const PlanNode &root() const { return *root_; }

    std::string text() const;

    // Calls `use(node, sub, runs, level)` in the order of the text: with the problem and its offsets as the parent
    // leaves it, how often it runs in one transform, and the number of steps above it.
    using Use = std::function<void(const PlanNode &, const SubProblem &, int64_t runs, int level)>;
    void visit(const Use &use) const;

    // 5 n log2 n, by which transforms are compared whatever they really compute.
    double flops() const;

    friend bool operator==(const TransformPlan &a, const TransformPlan &b) {
        return a.n_ == b.n_ && a.root() == b.root();
    }

private:
    int n_;
    PlanNodeRef root_;
};

}  // namespace halidegym
