#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/planners.h"
#include "bindings/topics.h"
#include "bindings/tree_share.h"
#include "search/tree/mcts.h"
#include "search/tree/rollout_speed.h"

namespace py = pybind11;

namespace halidegym {

namespace {

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
    std::vector<TriedAtRoot> roots;
};

// Trees that a Python function speaks for; none if they are to live here.
template <typename S>
typename Mcts<S>::Trees trees_of(const py::object &trees) {
    if (trees.is_none()) {
        return {};
    }
    if constexpr (std::is_same_v<S, ScheduleSpace>) {
        return [&trees](const ScheduleOrder &order, const KeepSearching &keep_searching) {
            return search_in_python(trees, order, keep_searching);
        };
    } else {
        throw InvalidParameter("trees in other processes search schedules alone, not other spaces; leave them out");
    }
}

PythonMctsResult run_mcts(const py::object &space, const MctsOptions &options, const py::object &measure,
                          const py::object &trees, const Limits &limits) {
    return search_guided(
        space, limits,
        [&]<typename S>(S &searched, const Budget &budget) {
            typename Mcts<S>::Measure measured;
            if (!measure.is_none()) {
                measured = [&](const std::vector<Solution<typename S::State>> &candidates) {
                    return measure_in_python(measure, candidates);
                };
            }
            return Mcts<S>(searched, options, budget, std::move(measured), trees_of<S>(trees)).run();
        },
        [](const auto &result) {
            return PythonMctsResult{result_to_python(result), result.deciding_trees, result.roots};
        });
}

void bind_options(py::module_ &m) {
    using Value = TreePolicy::Value;
    using Bonus = TreePolicy::Bonus;
    OptionsClass<TreePolicy>(m, "TreePolicy", "How a search tree chooses the child to look into.")
        .add_choice<Value>("value", &TreePolicy::value,
                           {{"mean_cost", Value::MeanCost},
                            {"mean_inverse", Value::MeanInverse},
                            {"best_cost", Value::BestCost},
                            {"success_rate", Value::SuccessRate}})
        .add_choice<Bonus>("bonus", &TreePolicy::bonus,
                           {{"multiplied", Bonus::Multiplied}, {"added", Bonus::Added}, {"prior", Bonus::Prior}})
        .add("exploration", &TreePolicy::exploration)
        .add("log_factor", &TreePolicy::log_factor)
        .add("normalized", &TreePolicy::normalized)
        .add("exploration_by_spread", &TreePolicy::exploration_by_spread)
        .add("exploration_decay", &TreePolicy::exploration_decay);

    using Winner = MctsOptions::Winner;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    OptionsClass<MctsOptions>(m, "MctsOptions", "Parameters of a tree search.")
        .add("trees", &MctsOptions::trees)
        .add("greedy_trees", &MctsOptions::greedy_trees)
        .add("epsilon", &MctsOptions::epsilon)
        .add("draws", &MctsOptions::draws)
        .add("first_beam", &MctsOptions::first_beam)
        .add("first_draws", &MctsOptions::first_draws)
        .add_optional("deviations", &MctsOptions::deviations, infinity)
        .add("iterations", &MctsOptions::iterations)
        .add_optional("seconds_per_decision", &MctsOptions::seconds_per_decision, infinity)
        .add("policy", &MctsOptions::policy)
        .add_choice<Winner>("winner", &MctsOptions::winner,
                            {{"best", Winner::Best}, {"average", Winner::Average}, {"candidate", Winner::Candidate}})
        .add("candidates", &MctsOptions::candidates)
        .add("tells_roots", &MctsOptions::tells_roots)
        .add("widening", &MctsOptions::widening)
        .add("front_loading", &MctsOptions::front_loading)
        .add("tree_memory", &MctsOptions::tree_memory)
        .add("threads", &MctsOptions::threads)
        .add("seed", &MctsOptions::seed);
}

}  // namespace

void bind_search_mcts(py::module_ &m) {
    bind_options(m);
    py::class_<TriedAtRoot>(m, "TriedAtRoot", "The decisions that were tried at a root of a tree search.")
        .def_readonly("depth", &TriedAtRoot::depth)
        .def_readonly("actions", &TriedAtRoot::actions)
        .def_readonly("costs", &TriedAtRoot::costs);
    py::class_<PythonMctsResult, PythonResult>(m, "MctsResult", "What a tree search found, and what it took.")
        .def_readonly("deciding_trees", &PythonMctsResult::deciding_trees)
        .def_readonly("roots", &PythonMctsResult::roots);
    bind_tree_share(m);
    def_planner<MctsOptions, py::object, py::object>(m, "mcts", &run_mcts, options_argument<MctsOptions>(),
                                                     py::arg("measure") = py::none(), py::arg("trees") = py::none());

    m.def(
        "rollout_speed",
        [](const std::shared_ptr<Space> &space, double seconds, uint64_t seed) {
            const UnlockedWork work;
            ScheduleSpace schedules(space);
            const RolloutSpeed speed = measure_rollout_speed(schedules, seconds, seed, Pause());
            return std::pair(static_cast<double>(speed.drawn) / speed.drawn_seconds,
                             static_cast<double>(speed.built) / speed.built_seconds);
        },
        py::arg("space").none(false), py::kw_only(), py::arg("seconds") = 1.0, py::arg("seed") = 0);
}

}  // namespace halidegym
