#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/native_work.h"
#include "bindings/options.h"
#include "bindings/python_space.h"
#include "search/parameters.h"
#include "search/search_result.h"
#include "search/spaces/guided_schedules.h"
#include "search/spaces/schedule_space.h"
#include "search/spaces/synthetic_tree.h"
#include "transform/space.h"

// What the bindings of all planners share: a planner is written once in C++ and takes every space that Python can name.
namespace halidegym {

// Asks Python whether to go on, at most some twenty times a second: its callback, and whether a signal has arrived.
// Ctrl-C, also in the callback, stops the search, which then returns the best so far. It stops for good, as one search
// may be made of several.
class PythonWatch {
public:
    explicit PythonWatch(pybind11::object on_progress) : on_progress_(std::move(on_progress)) {}

    bool operator()(const Progress &progress) {
        NativeWork::check_exit();
        const auto now = std::chrono::steady_clock::now();
        if (stopped_ || now - last_ < std::chrono::milliseconds(50)) {
            return !stopped_;
        }
        last_ = now;
        const pybind11::gil_scoped_acquire gil;
        try {
            if (PyErr_CheckSignals() != 0) {
                throw pybind11::error_already_set();
            }
            stopped_ = !on_progress_.is_none() &&
                       !pybind11::bool_(on_progress_(progress.pass, progress.depth, progress.evaluations,
                                                     progress.expansions, progress.best_cost));
        } catch (const pybind11::error_already_set &error) {
            if (!error.matches(PyExc_KeyboardInterrupt)) {
                throw;
            }
            stopped_ = true;
        }
        return !stopped_;
    }

private:
    pybind11::object on_progress_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
    bool stopped_ = false;
};

// A budget as Python states it; None sets no limit.
struct Limits {
    pybind11::object seconds;
    pybind11::object evaluations;
    pybind11::object expansions;
    pybind11::object on_progress;

    // The watch must outlive the budget.
    Budget budget(PythonWatch &watch) const {
        Budget budget;
        budget.seconds = limit("max_seconds", seconds, budget.seconds);
        budget.evaluations = limit("max_evaluations", evaluations, budget.evaluations);
        budget.expansions = limit("max_expansions", expansions, budget.expansions);
        budget.keep_going = std::ref(watch);
        return budget;
    }

private:
    template <typename Value>
    static Value limit(const char *name, const pybind11::object &given, Value unlimited) {
        const Value value = parameter<std::optional<Value>>(name, given).value_or(unlimited);
        require(value >= 0, std::string(name) + " is negative; give a budget of at least 0, or None for none");
        return value;
    }
};

// Results as Python sees them, whatever the space.
using PythonSolution = Solution<pybind11::object>;
using PythonResult = SearchResult<pybind11::object>;

template <typename State>
pybind11::object state_to_python(const State &state) {
    return pybind11::cast(state);
}
inline pybind11::object state_to_python(const PythonSpace::State &state) {
    return state.get();
}

template <typename State>
PythonResult result_to_python(const SearchResult<State> &result) {
    const auto convert = [](const std::vector<Solution<State>> &solutions) {
        std::vector<PythonSolution> converted;
        for (const Solution<State> &solution : solutions) {
            converted.push_back({state_to_python(solution.state), solution.cost, solution.actions});
        }
        return converted;
    };
    return {.solutions = convert(result.solutions),
            .pass_solutions = convert(result.pass_solutions),
            .pass_costs = result.pass_costs,
            .history = result.history,
            .evaluations = result.evaluations,
            .remembered_evaluations = result.remembered_evaluations,
            .expansions = result.expansions,
            .forwards = result.forwards,
            .seconds = result.seconds,
            .ended_by = result.ended_by};
}

// Calls `use` with the search space that a Python object stands for.
template <typename Use>
auto with_space(const pybind11::object &object, const Use &use) {
    if (pybind11::isinstance<Space>(object)) {
        return use(ScheduleSpace(pybind11::cast<std::shared_ptr<Space>>(object)));
    }
    if (pybind11::isinstance<SyntheticTree>(object)) {
        return use(pybind11::cast<SyntheticTree>(object));
    }
    if (pybind11::isinstance<TransformSpace>(object)) {
        return use(pybind11::cast<TransformSpace>(object));
    }
    return use(PythonSpace(object));
}

// The same for planners that draw decisions, which a policy can do for them.
template <typename Use>
auto with_guided_space(const pybind11::object &object, const Use &use) {
    if (pybind11::isinstance<GuidedSchedules>(object)) {
        return use(pybind11::cast<GuidedSchedules>(object));
    }
    return with_space(object, use);
}

// Runs `search(space, budget)` on the space that `with_space(use)` finds, without the interpreter's lock, and returns
// what `convert` makes of its result.
template <typename WithSpace, typename Search, typename Convert>
auto search_with(const WithSpace &with_space, const Limits &limits, const Search &search, const Convert &convert) {
    const NativeWork work;
    PythonWatch watch(limits.on_progress);
    const Budget budget = limits.budget(watch);
    try {
        return with_space([&](auto space) {
            return convert([&] {
                const pybind11::gil_scoped_release release;
                return search(space, budget);
            }());
        });
    } catch (const std::bad_alloc &) {
        throw OutOfResources("the search ran out of memory; give smaller parameters or a smaller budget");
    }
}

// Searches the space that a Python object stands for.
template <typename Search, typename Convert>
auto search_any(const pybind11::object &object, const Limits &limits, const Search &search, const Convert &convert) {
    return search_with([&](const auto &use) { return with_space(object, use); }, limits, search, convert);
}

template <typename Search>
PythonResult search_any(const pybind11::object &object, const Limits &limits, const Search &search) {
    return search_any(object, limits, search, [](const auto &result) { return result_to_python(result); });
}

template <typename Search, typename Convert>
auto search_guided(const pybind11::object &object, const Limits &limits, const Search &search, const Convert &convert) {
    return search_with([&](const auto &use) { return with_guided_space(object, use); }, limits, search, convert);
}

// Binds `search(space, parameters ..., limits)` as a function that takes the parameters after the space, as told by
// `names`, and the limits by name.
template <typename... Parameters, typename Search, typename... Names>
void def_planner(pybind11::module_ &m, const char *name, const Search &search, const Names &...names) {
    using pybind11::arg;
    using pybind11::object;
    m.def(
        name,
        [search](const object &space, const Parameters &...parameters, object seconds, object evaluations,
                 object expansions, object on_progress) {
            return search(
                space, parameters...,
                Limits{std::move(seconds), std::move(evaluations), std::move(expansions), std::move(on_progress)});
        },
        arg("space"), names..., pybind11::kw_only(), arg("max_seconds") = pybind11::none(),
        arg("max_evaluations") = pybind11::none(), arg("max_expansions") = pybind11::none(),
        arg("on_progress") = pybind11::none());
}

// The parameters of a planner, by default those of the struct.
template <typename Options>
pybind11::arg_v options_argument() {
    return pybind11::arg_v("options", Options{}, "default");
}

}  // namespace halidegym
