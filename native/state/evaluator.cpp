#include "state/evaluator.h"

#include <cmath>

#include "problem/error.h"

namespace halidegym {

Evaluator::Evaluator(SpaceRef space)
    : space_(std::move(space)), table_(space_->feature_constants), costs_(space_->cost_model, table_) {}

void Evaluator::start(const LevelRef &parent) {
    parent_ = nullptr;  // until the table is complete
    table_.start(*parent);
    parents_limit_ = limit_of(table_.stages());
    parents_cost_.reset();
    parent_ = parent;
}

void Evaluator::look_at(const LevelRef &parent, const Level &child) {
    if (!has_started_from(parent)) {
        start(parent);
    }
    table_.look_at(child);
}

std::optional<double> Evaluator::cost(const LevelRef &nest) {
    start(nest);
    if (parents_limit_) {
        return std::nullopt;
    }
    parents_cost_ = costs_.start();
    return checked(*parents_cost_);
}

std::optional<double> Evaluator::cost_of_child(const LevelRef &parent, const Level &child) {
    if (!has_started_from(parent) || !parents_cost_) {
        look_at(parent, *parent);
        parents_cost_ = costs_.start();
    }
    look_at(parent, child);
    if (limit_of_child()) {
        return std::nullopt;
    }
    return checked(costs_.look_at());
}

bool Evaluator::accepts_child(const LevelRef &parent, const Level &child) {
    look_at(parent, child);
    return !limit_of_child();
}

// Rows of the parent that keep the limits need no second look.
std::optional<Limit> Evaluator::limit_of_child() const {
    return limit_of(parents_limit_ ? table_.stages() : table_.own_rows());
}

std::optional<Limit> Evaluator::limit_of(std::span<const int> stages) const {
    return exceeded_limit(*space_->problem, table_, stages, space_->options.memory_limit,
                          space_->options.max_recompute);
}

const FeatureTable &Evaluator::features(const LevelRef &nest) {
    if (has_started_from(nest)) {
        table_.look_at(*nest);
    } else {
        start(nest);
    }
    return table_.table();
}

double Evaluator::checked(float cost) const {
    if (std::isnan(cost)) {
        throw InvalidParameter("the weights of the cost model give a cost that is no number for a schedule of '" +
                               space_->problem->name + "'; give weights that are finite and of moderate size");
    }
    return cost;
}

}  // namespace halidegym
