#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/planners.h"
#include "bindings/topics.h"
#include "problem/error.h"
#include "search/beam_search.h"
#include "search/exhaustive_search.h"
#include "search/random_search.h"

namespace py = pybind11;

namespace halidegym {

namespace {

PythonResult run_beam_search(const py::object &space, int beam_size, int passes, int random_dropout, uint32_t seed,
                             std::optional<double> seconds, std::optional<int64_t> evaluations,
                             std::optional<int64_t> expansions, py::object on_progress) {
    return search_any(space, {seconds, evaluations, expansions, std::move(on_progress)},
                      [&](auto &searched, const Budget &budget) {
                          return BeamSearch(searched, {beam_size, passes, random_dropout, seed}, budget).run();
                      });
}

// Every state that a beam search evaluates, as the cost model sees it: features [stages, 39] as float32, and the cost.
py::list evaluated_states(const std::shared_ptr<Space> &space, int beam_size, int passes, int random_dropout,
                          uint32_t seed) {
    py::list states;
    ScheduleSpace schedules(space, [&](const FeatureTable &table, double cost) {
        py::array_t<float> rows({static_cast<py::ssize_t>(table.stages.size()), py::ssize_t{num_schedule_features}});
        for (size_t i = 0; i < table.stages.size(); i++) {
            std::copy(table.row(table.stages[i]).begin(), table.row(table.stages[i]).end(),
                      rows.mutable_data(static_cast<py::ssize_t>(i), 0));
        }
        states.append(py::make_tuple(rows, cost));
    });
    BeamSearch<ScheduleSpace>(schedules, {beam_size, passes, random_dropout, seed}, Budget{}).run();
    return states;
}

PythonResult run_random_search(const py::object &space, uint32_t seed, std::optional<double> seconds,
                               std::optional<int64_t> evaluations, py::object on_progress) {
    if (!seconds && !evaluations) {
        throw InvalidParameter("random search has no end of its own; give max_seconds or max_evaluations");
    }
    return search_any(space, {seconds, evaluations, std::nullopt, std::move(on_progress)},
                      [&](auto &searched, const Budget &budget) { return random_search(searched, seed, budget); });
}

PythonResult run_exhaustive_search(const py::object &space, std::optional<double> seconds,
                                   std::optional<int64_t> evaluations, std::optional<int64_t> expansions,
                                   py::object on_progress) {
    return search_any(space, {seconds, evaluations, expansions, std::move(on_progress)},
                      [](auto &searched, const Budget &budget) { return ExhaustiveSearch(searched, budget).run(); });
}

double estimate_num_schedules(const py::object &space, int walks, uint32_t seed) {
    return with_space(space, [&](auto searched) {
        const py::gil_scoped_release release;
        return estimate_num_complete_states(searched, walks, seed);
    });
}

}  // namespace

void bind_search(py::module_ &m) {
    py::class_<PythonSolution>(m, "Solution", "A complete state that a search found.")
        .def_readonly("state", &PythonSolution::state)
        .def_readonly("cost", &PythonSolution::cost)
        .def_readonly("actions", &PythonSolution::actions);

    py::class_<Improvement>(m, "Improvement", "The best cost so far, and what it took to find it.")
        .def_readonly("seconds", &Improvement::seconds)
        .def_readonly("evaluations", &Improvement::evaluations)
        .def_readonly("expansions", &Improvement::expansions)
        .def_readonly("cost", &Improvement::cost);

    py::class_<PythonResult>(m, "SearchResult", "What a search found, and what it took.")
        .def_readonly("solutions", &PythonResult::solutions)
        .def_readonly("pass_solutions", &PythonResult::pass_solutions)
        .def_readonly("pass_costs", &PythonResult::pass_costs)
        .def_readonly("history", &PythonResult::history)
        .def_readonly("evaluations", &PythonResult::evaluations)
        .def_readonly("expansions", &PythonResult::expansions)
        .def_readonly("seconds", &PythonResult::seconds)
        .def_readonly("interrupted", &PythonResult::interrupted);

    m.def("beam_search", &run_beam_search, py::arg("space"), py::kw_only(), py::arg("beam_size") = 32,
          py::arg("passes") = 0, py::arg("random_dropout") = 100, py::arg("seed") = 0,
          py::arg("max_seconds") = py::none(), py::arg("max_evaluations") = py::none(),
          py::arg("max_expansions") = py::none(), py::arg("on_progress") = py::none());
    m.def("evaluated_states", &evaluated_states, py::arg("space"), py::kw_only(), py::arg("beam_size") = 32,
          py::arg("passes") = 0, py::arg("random_dropout") = 100, py::arg("seed") = 0);
    m.def("random_search", &run_random_search, py::arg("space"), py::kw_only(), py::arg("seed") = 0,
          py::arg("max_seconds") = py::none(), py::arg("max_evaluations") = py::none(),
          py::arg("on_progress") = py::none());
    m.def("exhaustive_search", &run_exhaustive_search, py::arg("space"), py::kw_only(),
          py::arg("max_seconds") = py::none(), py::arg("max_evaluations") = py::none(),
          py::arg("max_expansions") = py::none(), py::arg("on_progress") = py::none());
    m.def("estimate_num_schedules", &estimate_num_schedules, py::arg("space"), py::kw_only(), py::arg("walks") = 64,
          py::arg("seed") = 0);
}

}  // namespace halidegym
