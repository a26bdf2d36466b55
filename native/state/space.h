#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cost/feature_constants.h"
#include "cost/network.h"
#include "nest/level.h"
#include "problem/problem.h"
#include "state/space_tables.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

struct SpaceOptions {
    // Off: every Func is tiled at most once, and all placements precede all parallelizations (section 14).
    bool subtiling = true;
    // Bytes of working set beyond the outputs that a schedule may use; negative: unlimited.
    int64_t memory_limit = -1;
    // How many times the fewest points possible a stage may compute; the reference's is 8 (section 7.4).
    double max_recompute = 8;
};

// The space that planners and environments search: a problem, the rules that restrict its schedules, and the model that
// rates them. Immutable and shared by all its states.
struct Space {
    Space(ProblemRef problem, std::shared_ptr<const CostModel> cost_model, SpaceOptions options = {});

    ProblemRef problem;
    std::shared_ptr<const CostModel> cost_model;
    SpaceOptions options;
    LevelRef empty_nest;
    FeatureConstants feature_constants;
    // A stage may compute at most so many points: `max_recompute` times the fewest possible. By stage id; unlimited for
    // wrappers.
    std::vector<double> points_limit;
    std::shared_ptr<SpaceTables> tables;  // of pure functions: they grow, and nobody can tell
};

using SpaceRef = std::shared_ptr<const Space>;

}  // namespace halidegym
