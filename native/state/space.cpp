#include "state/space.h"

#include <limits>

#include "cost/points_minimum.h"
#include "nest/edits.h"
#include "nest/root_extents.h"

namespace halidegym {

namespace {

std::vector<double> points_limits(const Problem &problem, const Regions &root, double max_recompute) {
    require_usable_extents(problem, root);
    const auto minimum = points_computed_minimum(problem, root);
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
      empty_nest(halidegym::empty_nest(*problem)),
      points_limit(points_limits(*problem, *empty_nest->regions, options.max_recompute)),
      tables(std::make_shared<SpaceTables>(*problem)) {}

}  // namespace halidegym
