#include "state/evaluator.h"

#include "cost/limits.h"

namespace halidegym {

Evaluator::Evaluator(SpaceRef space) : space_(std::move(space)), featurizer_(*space_->problem) {}

bool Evaluator::accepts(const Level &root) {
    return !exceeded_limit(*space_->problem, featurizer_.compute(root), root, space_->options.memory_limit);
}

std::optional<double> Evaluator::cost(const Level &root) {
    return accepts(root) ? std::optional<double>(space_->cost_model->cost(last_features())) : std::nullopt;
}

}  // namespace halidegym
