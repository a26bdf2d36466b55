#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include <Halide.h>

#include "problem/problem.h"

namespace halidegym {

struct StageFeatures {
    std::array<int32_t, num_algorithm_features> counts{};
    bool reads_image = false;
    std::map<std::string, std::vector<LoadJacobian>> jacobians;  // loads of other Funcs, by their name
};

// Counts the operations and memory accesses of a stage's computation, and takes the derivatives of its loads with
// respect to `loops`, innermost first (docs/specification/function-dag.md, section 8).
StageFeatures featurize(const Halide::Internal::Function &function, int stage, const std::vector<Loop> &loops);

}  // namespace halidegym
