#pragma once

#include <cstdint>
#include <vector>

#include "cost/load_table.h"
#include "cost/points_minimum.h"
#include "nest/regions.h"
#include "problem/problem.h"

namespace halidegym {

// What features take from a problem whatever the nest, so that all who measure nests of it share it.
struct FeatureConstants {
    // `problem` must outlive it.
    FeatureConstants(const Problem &problem_, const Regions &root)
        : problem(problem_), points_minimum(points_computed_minimum(problem, root)), loads(problem) {}

    const Problem &problem;
    std::vector<int64_t> points_minimum;
    EdgeLoads loads;
};

}  // namespace halidegym
