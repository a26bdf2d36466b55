#include "state/evaluator.h"

namespace halidegym {

Evaluator::Evaluator(SpaceRef space) : space_(std::move(space)), featurizer_(*space_->problem) {}

Evaluation Evaluator::evaluate(const Level &root) {
    const FeatureTable &table = featurizer_.compute(root);
    const Verdict verdict = check_limits(*space_->problem, table, root, space_->options.memory_limit);
    if (verdict != Verdict::Accepted) {
        return {verdict, 0};
    }
    float cost = 0;
    int w = 0;
    for (const int stage : space_->cost_model->stage_order()) {
        if (!table.has_row(stage)) {
            break;  // scheduled stages come first
        }
        cost += space_->cost_model->stage_cost(w++, table.row(stage));
    }
    return {verdict, static_cast<double>(cost)};
}

}  // namespace halidegym
