#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/expansion.h"
#include "bindings/planners.h"
#include "bindings/topics.h"
#include "search/completions.h"
#include "search/rollout_search.h"
#include "search/sgbs.h"

namespace py = pybind11;

namespace halidegym {

namespace {

PythonResult run_rollout_search(const py::object &space, const RolloutSearchOptions &options, const Limits &limits) {
    return search_guided(
        space, limits, [&](auto &searched, const Budget &budget) { return rollout_search(searched, options, budget); },
        [](const auto &result) { return result_to_python(result); });
}

PythonResult run_sgbs(const py::object &space, const SgbsOptions &options, const Limits &limits) {
    return search_guided(
        space, limits,
        [&]<typename S>(S &searched, const Budget &budget) {
            return SimulationGuidedBeam<S>(searched, options, budget).run();
        },
        [](const auto &result) { return result_to_python(result); });
}

// By one policy, by several, or by the cost model.
using GivenPolicies = std::variant<std::shared_ptr<const Policy>, std::vector<std::shared_ptr<const Policy>>>;

GuidedSchedules guided_schedules(SpaceRef space, const GivenPolicies &given, const GuidanceOptions &options) {
    if (const auto *one = std::get_if<std::shared_ptr<const Policy>>(&given)) {
        return {std::move(space), *one ? GuidedSchedules::Policies{*one} : GuidedSchedules::Policies(), options};
    }
    const auto &several = std::get<GuidedSchedules::Policies>(given);
    require(!several.empty() && std::ranges::find(several, nullptr) == several.end(),
            "several policies are none, or have a None among them; give at least one, or None for the cost model");
    return {std::move(space), several, options};
}

// By a space of its own, as what is remembered of states belongs to one thread.
py::array_t<double> completion_costs_of(const GuidedSchedules &space, const BoundExpansion &expansion,
                                        const std::vector<int64_t> &actions, uint64_t seed) {
    if (expansion.state().space_ref() != space.space_ref()) {
        throw InvalidParameter(
            "the expansion is of a state of another space, of '" + expansion.state().space().problem->name +
            "', and completions are of a space of '" + space.space_ref()->problem->name +
            "'; give one that comes of the initial state of the space that the GuidedSpace is made of");
    }
    std::vector<Decision> decisions;
    for (const int64_t action : actions) {
        decisions.push_back(expansion.decision(action));
    }
    const std::vector<double> costs = [&] {
        const UnlockedWork work;
        GuidedSchedules own(space);
        return completion_costs(own, expansion.state(), std::span<const Decision>(decisions), seed, Pause());
    }();
    return py::array_t<double>(static_cast<py::ssize_t>(costs.size()), costs.data());
}

}  // namespace

void bind_search_guided(py::module_ &m) {
    OptionsClass<GuidanceOptions>(m, "GuidanceOptions", "How decisions are drawn from a policy.")
        .add("temperature", &GuidanceOptions::temperature)
        .add("other_temperature", &GuidanceOptions::other_temperature)
        .add("shortlist", &GuidanceOptions::shortlist)
        .add("shortlist_share", &GuidanceOptions::shortlist_share)
        .add("max_decisions", &GuidanceOptions::max_decisions)
        .add("memory", &GuidanceOptions::memory)
        .add("seed", &GuidanceOptions::seed);
    py::class_<GuidedSchedules>(m, "GuidedSpace", "Schedules of which a policy draws the random decisions.")
        .def(py::init(&guided_schedules), py::arg("space").none(false), py::arg("policy"),
             options_argument<GuidanceOptions>())
        .def("completion_costs", &completion_costs_of, py::arg("expansion"), py::arg("actions"), py::kw_only(),
             py::arg("seed") = 0);

    constexpr double infinity = std::numeric_limits<double>::infinity();
    OptionsClass<RolloutSearchOptions>(m, "RolloutSearchOptions", "Parameters of a search by rollouts.")
        .add("rollouts", &RolloutSearchOptions::rollouts)
        .add("free_rollouts", &RolloutSearchOptions::free_rollouts)
        .add_optional("deviations", &RolloutSearchOptions::deviations, infinity)
        .add("patience", &RolloutSearchOptions::patience)
        .add("seed", &RolloutSearchOptions::seed);
    def_planner<RolloutSearchOptions>(m, "rollout_search", &run_rollout_search,
                                      options_argument<RolloutSearchOptions>());

    OptionsClass<SgbsOptions>(m, "SgbsOptions", "Parameters of a simulation-guided beam search.")
        .add("beam_size", &SgbsOptions::beam_size)
        .add("children", &SgbsOptions::children)
        .add("sampled", &SgbsOptions::sampled)
        .add("passes", &SgbsOptions::passes)
        .add("seed", &SgbsOptions::seed);
    def_planner<SgbsOptions>(m, "sgbs", &run_sgbs, options_argument<SgbsOptions>());
}

}  // namespace halidegym
