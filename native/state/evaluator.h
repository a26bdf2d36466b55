#pragma once

#include <optional>

#include "cost/features.h"
#include "nest/level.h"
#include "state/space.h"

namespace halidegym {

// Rates nests of one space. Holds working memory, so each thread needs its own.
class Evaluator {
public:
    explicit Evaluator(SpaceRef space);

    // Whether the nest keeps all limits.
    bool accepts(const Level &root);

    // Of the cost model; nothing if the nest exceeds a limit. Throws InvalidParameter if its weights give no number.
    std::optional<double> cost(const Level &root);

    // Of the nest rated last; valid until the next call.
    const FeatureTable &last_features() const { return featurizer_.table(); }

    // Features of every scheduled stage; valid until the next call.
    const FeatureTable &features(const Level &root) { return featurizer_.compute(root); }

private:
    SpaceRef space_;
    Featurizer featurizer_;
};

}  // namespace halidegym
