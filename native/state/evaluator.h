#pragma once

#include "cost/features.h"
#include "cost/limits.h"
#include "nest/level.h"
#include "state/space.h"

namespace halidegym {

struct Evaluation {
    Verdict verdict;
    double cost;  // of the model, 0 if the nest was rejected
};

// Rates nests of one space. Holds working memory, so each thread needs its own.
class Evaluator {
public:
    explicit Evaluator(SpaceRef space);

    Evaluation evaluate(const Level &root);

    // Of the nest evaluated last; valid until the next call.
    const FeatureTable &last_features() const { return featurizer_.table(); }

    // Features of every scheduled stage; valid until the next call.
    const FeatureTable &features(const Level &root) { return featurizer_.compute(root); }

private:
    SpaceRef space_;
    Featurizer featurizer_;
};

}  // namespace halidegym
