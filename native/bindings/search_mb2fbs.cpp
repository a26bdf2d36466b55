#include "search/mb2fbs.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/planners.h"
#include "bindings/topics.h"

namespace py = pybind11;

namespace halidegym {

namespace {

// A name, or a function of cost, depth, X and D_max. A function is shared by copies that are dropped without the
// interpreter's lock.
Mb2fbsPriority make_priority(const py::object &priority) {
    if (PyCallable_Check(priority.ptr())) {
        const PythonSpace::Value function(priority);
        return [function](double cost, int depth, const Mb2fbsAim &aim) {
            const py::gil_scoped_acquire gil;
            const double value = py::cast<double>(function.get()(cost, depth, aim.cost, aim.depth));
            if (std::isnan(value)) {
                throw InvalidParameter("priority returned nan; return a number, the larger the earlier");
            }
            return value;
        };
    }
    const std::string name = py::str(priority);
    if (name == "cost") {
        return cost_priority;
    }
    if (name == "depth_and_cost") {
        return depth_and_cost_priority;
    }
    throw InvalidParameter("priority is " + name +
                           "; give \"cost\", \"depth_and_cost\", or a function of cost, depth, "
                           "best known cost and greatest depth");
}

struct PythonMb2fbsResult : PythonResult {
    std::vector<std::vector<int64_t>> pass_expansions;
    std::vector<int64_t> pass_complete_states;
};

PythonMb2fbsResult run_mb2fbs(const py::object &object, std::optional<int64_t> beta1, std::optional<int64_t> beta2,
                              std::optional<int64_t> beta, std::optional<int64_t> memory, int passes,
                              const py::object &priority, bool stop_at_complete, std::optional<double> seconds,
                              std::optional<int64_t> evaluations, std::optional<int64_t> expansions,
                              py::object on_progress) {
    constexpr int64_t unlimited = Mb2fbsOptions::unlimited;
    const Mb2fbsOptions options{.beta1 = beta1.value_or(unlimited),
                                .beta2 = beta2.value_or(unlimited),
                                .beta = beta.value_or(unlimited),
                                .memory = memory.value_or(unlimited),
                                .passes = passes,
                                .stop_at_complete = stop_at_complete,
                                .priority = make_priority(priority)};
    return search_any(
        object, {seconds, evaluations, expansions, std::move(on_progress)},
        [&](auto &space, const Budget &budget) { return Mb2fbs(space, options, budget).run(); },
        [](const auto &result) {
            PythonMb2fbsResult converted{result_to_python(result), {}, {}};
            for (const auto &pass : result.passes) {
                converted.pass_expansions.push_back(pass.expansions);
                converted.pass_complete_states.push_back(pass.complete_states);
            }
            return converted;
        });
}

}  // namespace

void bind_search_mb2fbs(py::module_ &m) {
    py::class_<PythonMb2fbsResult, PythonResult>(m, "Mb2fbsResult", "What an MB2FBS found, and what it took.")
        .def_readonly("pass_expansions", &PythonMb2fbsResult::pass_expansions)
        .def_readonly("pass_complete_states", &PythonMb2fbsResult::pass_complete_states);

    m.def("mb2fbs", &run_mb2fbs, py::arg("space"), py::kw_only(), py::arg("beta1") = 28, py::arg("beta2") = 4,
          py::arg("beta") = 32, py::arg("memory") = py::none(), py::arg("passes") = 5,
          py::arg("priority") = "depth_and_cost", py::arg("stop_at_complete") = false,
          py::arg("max_seconds") = py::none(), py::arg("max_evaluations") = py::none(),
          py::arg("max_expansions") = py::none(), py::arg("on_progress") = py::none());
}

}  // namespace halidegym
