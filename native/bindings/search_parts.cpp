#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/native_work.h"
#include "bindings/topics.h"
#include "problem/error.h"
#include "search/random_search.h"
#include "search/spaces/schedule_space.h"
#include "search/spaces/splitmix.h"

namespace py = pybind11;

namespace halidegym {

namespace {

int64_t compute_features(const std::vector<State> &states) {
    if (states.empty()) {
        return 0;
    }
    const UnlockedWork work;
    const SpaceRef &space = states.front().space_ref();
    Evaluator evaluator(space);
    int64_t rows = 0;
    for (const State &state : states) {
        if (state.space_ref() != space) {
            throw InvalidParameter("the states are of several spaces, of '" + space->problem->name + "' and of '" +
                                   state.space().problem->name + "'; give those of one space at a time");
        }
        rows += static_cast<int64_t>(evaluator.features(state.nest()).stages.size());
    }
    return rows;
}

int64_t random_rollouts(const std::shared_ptr<Space> &space, int64_t count, uint64_t seed) {
    const UnlockedWork work;
    ScheduleSpace schedules(space);
    Pause pause;
    int64_t complete = 0;
    for (int64_t i = 0; i < count; i++) {
        pause();
        SplitMix64 random(split_seed(seed, static_cast<uint64_t>(i)));
        complete += random_rollout(schedules, schedules.root(), random) ? 1 : 0;
    }
    return complete;
}

}  // namespace

void bind_search_parts(py::module_ &m) {
    m.def("compute_features", &compute_features, py::arg("states"));
    m.def("random_rollouts", &random_rollouts, py::arg("space").none(false), py::arg("count"), py::kw_only(),
          py::arg("seed") = 0);
}

}  // namespace halidegym
