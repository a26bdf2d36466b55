#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "cost/schedule_feature.h"

namespace halidegym {

// Of one stage, by feature::Index.
using FeatureRow = std::array<double, num_schedule_features>;

// The rows of a nest: one for each stage of each scheduled Func that is no input.
struct FeatureTable {
    std::vector<FeatureRow> rows;  // by stage id; only those of `stages` mean anything
    std::vector<int> stages;  // with a row, in the cost model's order: Funcs in order, the last update of each first

    const FeatureRow &row(int stage) const { return rows[static_cast<size_t>(stage)]; }
};

}  // namespace halidegym
