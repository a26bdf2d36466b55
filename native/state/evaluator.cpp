#include "state/evaluator.h"

#include <cmath>

#include "cost/limits.h"
#include "problem/error.h"

namespace halidegym {

Evaluator::Evaluator(SpaceRef space) : space_(std::move(space)), featurizer_(*space_->problem) {}

bool Evaluator::accepts(const Level &root) {
    return !exceeded_limit(*space_->problem, featurizer_.compute(root), root, space_->options.memory_limit);
}

std::optional<double> Evaluator::cost(const Level &root) {
    if (!accepts(root)) {
        return std::nullopt;
    }
    const float cost = space_->cost_model->cost(last_features());
    if (std::isnan(cost)) {
        throw InvalidParameter("the weights of the cost model give a cost that is no number for a schedule of '" +
                               space_->problem->name + "'; give weights that are finite and of moderate size");
    }
    return cost;
}

}  // namespace halidegym
