#include "state/space.h"

#include <limits>
#include <span>

#include "nest/edits.h"
#include "nest/root_extents.h"

namespace halidegym {

namespace {

LevelRef usable_empty_nest(const Problem &problem) {
    LevelRef nest = empty_nest(problem);
    require_usable_extents(problem, *nest->regions);
    return nest;
}

std::vector<double> points_limits(const Problem &problem, std::span<const int64_t> minimum, double max_recompute) {
    std::vector<double> limits;
    for (const Stage &stage : problem.stages) {
        limits.push_back(problem.node_of(stage).is_wrapper
                             ? std::numeric_limits<double>::infinity()
                             : max_recompute * static_cast<double>(minimum[static_cast<size_t>(stage.id)]));
    }
    return limits;
}

}  // namespace

Space::Space(ProblemRef problem_, std::shared_ptr<const CostModel> cost_model_, SpaceOptions options_)
    : problem(std::move(problem_)), cost_model(std::move(cost_model_)), options(options_),
      empty_nest(usable_empty_nest(*problem)), feature_constants(*problem, *empty_nest->regions),
      points_limit(points_limits(*problem, feature_constants.points_minimum, options.max_recompute)),
      tables(std::make_shared<SpaceTables>(*problem)) {}

}  // namespace halidegym
