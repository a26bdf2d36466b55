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

PythonResult run_beam_search(const py::object &space, const BeamOptions &options, const Limits &limits) {
    return search_any(space, limits, [&](auto &searched, const Budget &budget) {
        return BeamSearch(searched, options, budget).run();
    });
}

// Every state that a beam search evaluates, as the cost model sees it: features [stages, 39] as float32, and the cost.
py::list evaluated_states(const std::shared_ptr<Space> &space, const BeamOptions &options) {
    py::list states;
    ScheduleSpace schedules(space, [&](const FeatureTable &table, double cost) {
        py::array_t<float> rows({static_cast<py::ssize_t>(table.stages.size()), py::ssize_t{num_schedule_features}});
        for (size_t i = 0; i < table.stages.size(); i++) {
            std::copy(table.row(table.stages[i]).begin(), table.row(table.stages[i]).end(),
                      rows.mutable_data(static_cast<py::ssize_t>(i), 0));
        }
        states.append(py::make_tuple(rows, cost));
    });
    BeamSearch<ScheduleSpace>(schedules, options, Budget{}).run();
    return states;
}

PythonResult run_random_search(const py::object &space, const RandomSearchOptions &options, const Limits &limits) {
    return search_any(space, limits, [&](auto &searched, const Budget &budget) {
        require(!budget.is_unlimited(),
                "random search has no end of its own; give max_seconds, max_evaluations or max_expansions");
        return random_search(searched, options, budget);
    });
}

PythonResult run_exhaustive_search(const py::object &space, const Limits &limits) {
    return search_any(space, limits,
                      [](auto &searched, const Budget &budget) { return ExhaustiveSearch(searched, budget).run(); });
}

double estimate_num_schedules(const py::object &space, int walks, uint32_t seed) {
    return with_space(space, [&](auto searched) {
        const UnlockedWork work;
        return estimate_num_complete_states(searched, walks, seed, Pause());
    });
}

const char *name_of(EndedBy ended_by) {
    switch (ended_by) {
    case EndedBy::Finished:
        return "finished";
    case EndedBy::Budget:
        return "budget";
    default:
        return "interrupt";
    }
}

}  // namespace

void bind_search(py::module_ &m) {
    py::class_<PythonSolution>(m, "Solution", "A complete state that a search found.")
        .def_readonly("state", &PythonSolution::state)
        .def_readonly("cost", &PythonSolution::cost)
        .def_readonly("actions", &PythonSolution::actions)
        .def("__repr__", [](const PythonSolution &solution) {
            return py::str("Solution(cost={}, state={!r})").format(solution.cost, solution.state);
        });

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
        .def_property_readonly("distinct_evaluations", &PythonResult::distinct_evaluations)
        .def_readonly("expansions", &PythonResult::expansions)
        .def_readonly("forwards", &PythonResult::forwards, "States that went through a learned network.")
        .def_readonly("seconds", &PythonResult::seconds)
        .def_property_readonly("ended_by", [](const PythonResult &result) { return name_of(result.ended_by); });

    OptionsClass<BeamOptions>(m, "BeamOptions", "Parameters of a beam search.")
        .add("beam_size", &BeamOptions::beam_size)
        .add("passes", &BeamOptions::passes)
        .add_derived("num_passes", &BeamOptions::num_passes)
        .add("random_dropout", &BeamOptions::random_dropout)
        .add("threads", &BeamOptions::threads)
        .add("seed", &BeamOptions::seed);
    def_planner<BeamOptions>(m, "beam_search", &run_beam_search, options_argument<BeamOptions>());
    m.def("evaluated_states", &evaluated_states, py::arg("space").none(false), options_argument<BeamOptions>());

    OptionsClass<RandomSearchOptions>(m, "RandomSearchOptions", "Parameters of a random search.")
        .add("seed", &RandomSearchOptions::seed);
    def_planner<RandomSearchOptions>(m, "random_search", &run_random_search, options_argument<RandomSearchOptions>());

    def_planner<>(m, "exhaustive_search", &run_exhaustive_search);
    m.def("estimate_num_schedules", &estimate_num_schedules, py::arg("space").none(false), py::kw_only(),
          py::arg("walks") = 64, py::arg("seed") = 0);
}

}  // namespace halidegym
