#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <optional>

#include "bindings/python_space.h"
#include "search/search_result.h"
#include "search/spaces/schedule_space.h"
#include "search/spaces/synthetic_tree.h"

// What the bindings of all planners share: a planner is written once in C++ and takes every space that Python can name.
namespace halidegym {

// Asks Python whether to go on, at most some twenty times a second: its callback, and whether a signal has arrived.
// Ctrl-C, also in the callback, stops the search, which then returns the best so far.
class PythonWatch {
public:
    explicit PythonWatch(pybind11::object on_progress) : on_progress_(std::move(on_progress)) {}

    bool operator()(const Progress &progress) {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(50)) {
            return true;
        }
        last_ = now;
        const pybind11::gil_scoped_acquire gil;
        try {
            if (PyErr_CheckSignals() != 0) {
                throw pybind11::error_already_set();
            }
            return on_progress_.is_none() ||
                   pybind11::cast<bool>(on_progress_(progress.pass, progress.depth, progress.evaluations,
                                                     progress.expansions, progress.best_cost));
        } catch (const pybind11::error_already_set &error) {
            if (!error.matches(PyExc_KeyboardInterrupt)) {
                throw;
            }
            return false;
        }
    }

private:
    pybind11::object on_progress_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// A budget as Python states it; None sets no limit.
struct Limits {
    std::optional<double> seconds;
    std::optional<int64_t> evaluations;
    std::optional<int64_t> expansions;
    pybind11::object on_progress;

    // The watch must outlive the budget.
    Budget budget(PythonWatch &watch) const {
        const auto require_positive = [](const char *name, auto value) {
            if (value && *value < 0) {
                throw InvalidParameter(std::string(name) +
                                       " is negative; give a budget of at least 0, or None for none");
            }
        };
        require_positive("max_seconds", seconds);
        require_positive("max_evaluations", evaluations);
        require_positive("max_expansions", expansions);
        Budget budget;
        budget.seconds = seconds.value_or(budget.seconds);
        budget.evaluations = evaluations.value_or(budget.evaluations);
        budget.expansions = expansions.value_or(budget.expansions);
        budget.keep_going = std::ref(watch);
        return budget;
    }
};

// Results as Python sees them, whatever the space.
using PythonSolution = Solution<pybind11::object>;
using PythonResult = SearchResult<pybind11::object>;

template <typename State>
pybind11::object state_to_python(const State &state) {
    return pybind11::cast(state);
}
inline pybind11::object state_to_python(const PythonSpace::Value &state) {
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
            .expansions = result.expansions,
            .seconds = result.seconds,
            .interrupted = result.interrupted};
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
    return use(PythonSpace(object));
}

// Runs `search(space, budget)` on the space that a Python object stands for, without the interpreter's lock, and
// returns what `convert` makes of its result.
template <typename Search, typename Convert>
auto search_any(const pybind11::object &object, const Limits &limits, const Search &search, const Convert &convert) {
    PythonWatch watch(limits.on_progress);
    const Budget budget = limits.budget(watch);
    return with_space(object, [&](auto space) {
        return convert([&] {
            const pybind11::gil_scoped_release release;
            return search(space, budget);
        }());
    });
}

template <typename Search>
PythonResult search_any(const pybind11::object &object, const Limits &limits, const Search &search) {
    return search_any(object, limits, search, [](const auto &result) { return result_to_python(result); });
}

}  // namespace halidegym
