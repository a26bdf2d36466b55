#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/planners.h"
#include "bindings/topics.h"
#include "search/tree/mcts.h"
#include "search/tree/rollout_speed.h"

namespace py = pybind11;

namespace halidegym {

namespace {

// The value of a name, or an error that lists the names.
template <typename Value>
Value named(const char *parameter, const std::string &name, const std::vector<std::pair<const char *, Value>> &values) {
    std::string known;
    for (const auto &[candidate, value] : values) {
        if (name == candidate) {
            return value;
        }
        known += (known.empty() ? "" : ", ") + std::string(candidate);
    }
    throw InvalidParameter(std::string(parameter) + " \"" + name + "\" is unknown; give one of " + known);
}

TreePolicy make_policy(const std::string &value, const std::string &bonus, double exploration, double log_factor,
                       bool normalized, bool exploration_by_spread, double exploration_decay) {
    using Value = TreePolicy::Value;
    using Bonus = TreePolicy::Bonus;
    return {.value = named<Value>("value", value,
                                  {{"mean_cost", Value::MeanCost},
                                   {"mean_inverse", Value::MeanInverse},
                                   {"best_cost", Value::BestCost},
                                   {"success_rate", Value::SuccessRate}}),
            .bonus = named<Bonus>("bonus", bonus, {{"multiplied", Bonus::Multiplied}, {"added", Bonus::Added}}),
            .exploration = exploration,
            .log_factor = log_factor,
            .normalized = normalized,
            .exploration_by_spread = exploration_by_spread,
            .exploration_decay = exploration_decay};
}

// Hands candidates to a Python function from (actions, cost) to seconds or None. Ctrl-C in it ends the search.
template <typename State>
std::vector<double> measure_in_python(const py::object &measure, const std::vector<Solution<State>> &candidates) {
    const py::gil_scoped_acquire gil;
    std::vector<double> seconds;
    try {
        for (const Solution<State> &candidate : candidates) {
            const auto taken =
                py::cast<std::optional<double>>(measure(state_to_python(candidate.state), candidate.actions));
            seconds.push_back(taken.value_or(std::numeric_limits<double>::quiet_NaN()));
        }
    } catch (const py::error_already_set &error) {
        if (!error.matches(PyExc_KeyboardInterrupt)) {
            throw;
        }
    }
    return seconds;
}

struct PythonMctsResult : PythonResult {
    std::vector<int> deciding_trees;
};

PythonMctsResult run_mcts(const py::object &space, int trees, int greedy_trees, double epsilon,
                          std::optional<double> deviations, int draws, std::optional<int> first_beam,
                          std::optional<int64_t> iterations, std::optional<double> seconds_per_decision,
                          const TreePolicy &policy, const std::string &winner, double widening, double front_loading,
                          int64_t tree_memory, int threads, const py::object &measure, uint32_t seed,
                          std::optional<double> seconds, std::optional<int64_t> evaluations,
                          std::optional<int64_t> expansions, py::object on_progress) {
    using Winner = MctsOptions::Winner;
    MctsOptions options{.trees = trees,
                        .greedy_trees = greedy_trees,
                        .epsilon = epsilon,
                        .draws = draws,
                        .first_beam = first_beam.value_or(0),
                        .deviations = deviations.value_or(MctsOptions{}.deviations),
                        .policy = policy,
                        .winner =
                            named<Winner>("winner", winner, {{"best", Winner::Best}, {"average", Winner::Average}}),
                        .widening = widening,
                        .front_loading = front_loading,
                        .tree_memory = tree_memory,
                        .threads = threads,
                        .seed = seed};
    if (iterations && *iterations < 1) {
        throw InvalidParameter("iterations is " + std::to_string(*iterations) +
                               "; give at least 1, or None for no limit");
    }
    options.iterations = iterations.value_or(0);
    options.seconds = seconds_per_decision.value_or(options.seconds);
    return search_any(
        space, {seconds, evaluations, expansions, std::move(on_progress)},
        [&]<typename S>(S &searched, const Budget &budget) {
            typename Mcts<S>::Measure measured;
            if (!measure.is_none()) {
                measured = [&](const std::vector<Solution<typename S::State>> &candidates) {
                    return measure_in_python(measure, candidates);
                };
            }
            return Mcts<S>(searched, options, budget, std::move(measured)).run();
        },
        [](const auto &result) { return PythonMctsResult{result_to_python(result), result.deciding_trees}; });
}

}  // namespace

void bind_search_mcts(py::module_ &m) {
    py::class_<TreePolicy>(m, "TreePolicy", "How a search tree chooses the child to look into.")
        .def(py::init(&make_policy), py::kw_only(), py::arg("value") = "mean_cost", py::arg("bonus") = "multiplied",
             py::arg("exploration") = 1.0, py::arg("log_factor") = 1.0, py::arg("normalized") = false,
             py::arg("exploration_by_spread") = false, py::arg("exploration_decay") = 1.0);

    py::class_<PythonMctsResult, PythonResult>(m, "MctsResult", "What a tree search found, and what it took.")
        .def_readonly("deciding_trees", &PythonMctsResult::deciding_trees);

    m.def(
        "rollout_speed",
        [](const std::shared_ptr<Space> &space, double seconds, uint64_t seed) {
            const py::gil_scoped_release release;
            ScheduleSpace schedules(space);
            const RolloutSpeed speed = measure_rollout_speed(schedules, seconds, seed);
            return std::pair(static_cast<double>(speed.drawn) / speed.drawn_seconds,
                             static_cast<double>(speed.built) / speed.built_seconds);
        },
        py::arg("space"), py::kw_only(), py::arg("seconds") = 1.0, py::arg("seed") = 0);
    m.def("mcts", &run_mcts, py::arg("space"), py::kw_only(), py::arg("trees") = 16, py::arg("greedy_trees") = 1,
          py::arg("epsilon") = 0.0, py::arg("deviations") = py::none(), py::arg("draws") = 1,
          py::arg("first_beam") = py::none(), py::arg("iterations") = py::none(),
          py::arg("seconds_per_decision") = py::none(), py::arg("policy") = TreePolicy{}, py::arg("winner") = "best",
          py::arg("widening") = 1.0, py::arg("front_loading") = 1.0, py::arg("tree_memory") = int64_t{1} << 30,
          py::arg("threads") = 1, py::arg("measure") = py::none(), py::arg("seed") = 0,
          py::arg("max_seconds") = py::none(), py::arg("max_evaluations") = py::none(),
          py::arg("max_expansions") = py::none(), py::arg("on_progress") = py::none());
}

}  // namespace halidegym
