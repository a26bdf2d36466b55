#include "search/mb2fbs.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings/planners.h"
#include "bindings/topics.h"

namespace py = pybind11;

namespace halidegym {

namespace {

// A function of cost, depth, X and D_max in Python, shared by copies that are dropped without the interpreter's lock.
struct PythonPriority {
    PythonSpace::Value function;

    double operator()(double cost, int depth, const Mb2fbsAim &aim) const {
        const py::gil_scoped_acquire gil;
        const py::object returned = function.get()(cost, depth, aim.cost, aim.depth);
        py::detail::make_caster<double> value;
        if (!value.load(returned, /*convert=*/true) || std::isnan(py::detail::cast_op<double>(value))) {
            throw InvalidParameter("priority returned " + std::string(py::repr(returned)) +
                                   "; return a number, the larger the earlier");
        }
        return py::detail::cast_op<double>(value);
    }
};

using NamedPriority = double (*)(double, int, const Mb2fbsAim &);
const std::vector<std::pair<std::string, NamedPriority>> priorities{{"cost", cost_priority},
                                                                    {"depth_and_cost", depth_and_cost_priority}};

void set_priority(Mb2fbsOptions &options, const py::handle &given) {
    if (PyCallable_Check(given.ptr())) {
        options.priority = PythonPriority{PythonSpace::Value(py::reinterpret_borrow<py::object>(given))};
        return;
    }
    for (const auto &[name, priority] : priorities) {
        if (given.equal(py::str(name))) {
            options.priority = priority;
            return;
        }
    }
    throw InvalidParameter("priority=" + std::string(py::repr(given)) +
                           " is unknown; give \"cost\", \"depth_and_cost\", or a function of cost, depth, best known "
                           "cost and greatest depth");
}

py::object get_priority(const Mb2fbsOptions &options) {
    if (const auto *python = options.priority.target<PythonPriority>()) {
        return python->function.get();
    }
    const NamedPriority *set = options.priority.target<NamedPriority>();
    const auto named = std::find_if(priorities.begin(), priorities.end(),
                                    [&](const auto &candidate) { return set && candidate.second == *set; });
    return py::str(named->first);
}

struct PythonMb2fbsResult : PythonResult {
    std::vector<std::vector<int64_t>> pass_expansions;
    std::vector<int64_t> pass_complete_states;
};

PythonMb2fbsResult run_mb2fbs(const py::object &object, const Mb2fbsOptions &options, const Limits &limits) {
    return search_any(
        object, limits, [&](auto &space, const Budget &budget) { return Mb2fbs(space, options, budget).run(); },
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

    constexpr int64_t unlimited = Mb2fbsOptions::unlimited;
    OptionsClass<Mb2fbsOptions>(m, "Mb2fbsOptions", "Parameters of an MB2FBS.")
        .add_optional("beta1", &Mb2fbsOptions::beta1, unlimited)
        .add_optional("beta2", &Mb2fbsOptions::beta2, unlimited)
        .add_optional("beta", &Mb2fbsOptions::beta, unlimited)
        .add_optional("memory", &Mb2fbsOptions::memory, unlimited)
        .add("passes", &Mb2fbsOptions::passes)
        .add("stop_at_complete", &Mb2fbsOptions::stop_at_complete)
        .add_converted("priority", &get_priority, &set_priority);
    def_planner<Mb2fbsOptions>(m, "mb2fbs", &run_mb2fbs, options_argument<Mb2fbsOptions>());
}

}  // namespace halidegym
