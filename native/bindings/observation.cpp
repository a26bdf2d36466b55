#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/native_work.h"
#include "bindings/topics.h"
#include "observation/problem_rows.h"
#include "observation/replay.h"
#include "search/spaces/splitmix.h"

namespace py = pybind11;

namespace halidegym {

namespace {

template <typename T>
py::array_t<T> array(const std::vector<T> &values) {
    return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// Of so many rows.
template <typename T>
py::array_t<T> table(const std::vector<T> &values, size_t rows, int columns) {
    return py::array_t<T>({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)}, values.data());
}

py::dict problem_rows(const std::shared_ptr<Space> &space) {
    const ProblemRows rows(*space);
    const auto stages = static_cast<size_t>(rows.num_stages);
    const size_t edges = rows.edges.size() / 2;
    py::dict result;
    result["algorithm_features"] = table(rows.algorithm_features, stages, num_operations * num_scalar_types);
    result["stage_features"] = table(rows.stage_features, stages, num_stage_features);
    result["edges"] = table(rows.edges, edges, 2);
    result["edge_features"] = table(rows.edge_features, edges, num_edge_features);
    return result;
}

py::dict replay_rows(const std::shared_ptr<Space> &space, const std::vector<int64_t> &actions, int candidates,
                     uint64_t seed, int loops, bool child_features, double reference_cost,
                     const std::vector<std::vector<int64_t>> &shown) {
    const ReplayOptions options{candidates, loops, child_features, reference_cost, shown};
    const ReplayRows rows = [&] {
        const UnlockedWork work;
        SplitMix64 random(seed);
        return replay(space, actions, options, [&](uint64_t bound) { return uniform_below(random, bound); });
    }();
    const size_t states = rows.num_states();
    const size_t num_shown = rows.decisions.stages.size();
    py::dict result;
    result["deciding"] = table(rows.deciding, states, 2);
    result["phase"] = array(rows.phase);
    result["decided"] = array(rows.decided);
    result["places"] = table(rows.places, states, space->problem->num_stages());
    result["num_legal"] = array(rows.num_legal);
    result["taken"] = array(rows.taken);
    result["offsets"] = array(rows.offsets);
    result["indices"] = array(rows.indices);
    result["decisions"] = table(rows.decisions.rows, num_shown, DecisionRows::columns(loops));
    result["decision_stage"] = array(rows.decisions.stages);
    if (child_features) {
        result["decision_features"] = table(rows.children.rows, num_shown, num_child_features);
        result["costs"] = array(rows.children.costs);
    }
    return result;
}

}  // namespace

void bind_observation(py::module_ &m) {
    const ReplayOptions defaults;
    m.def("problem_rows", &problem_rows, py::arg("space").none(false),
          "What stays the same for all states of a problem, as a dict of tables.");
    m.def("replay_rows", &replay_rows, py::arg("space").none(false), py::arg("actions"), py::kw_only(),
          py::arg("candidates") = defaults.candidates, py::arg("seed") = 0, py::arg("loops") = defaults.loops,
          py::arg("child_features") = defaults.child_features, py::arg("reference_cost") = defaults.reference_cost,
          py::arg("shown") = defaults.shown,
          "The states on the path of a plan that leave a choice, as a dict of arrays.");
}

}  // namespace halidegym
