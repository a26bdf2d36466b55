#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>

#include "bindings/native_work.h"
#include "bindings/options.h"
#include "bindings/python_space.h"
#include "bindings/topics.h"
#include "bindings/values.h"
#include "problem/error.h"
#include "transform/counts.h"
#include "transform/space.h"
#include "transform/sub_plan.h"

namespace py = pybind11;

namespace halidegym {

namespace {

using TransformState = TransformSpace::State;

const std::vector<std::pair<std::string, StepRules>> rules_by_name{
    {"basic", StepRules::Basic}, {"lanes", StepRules::Lanes}, {"wide", StepRules::Wide}};
const std::vector<std::pair<std::string, DerivationOrder>> orders_by_name{{"first", DerivationOrder::First},
                                                                          {"any", DerivationOrder::Any}};

template <typename Value>
Value named(const char *parameter_name, const py::handle &given,
            const std::vector<std::pair<std::string, Value>> &choices) {
    std::string known;
    for (const auto &[name, value] : choices) {
        if (given.equal(py::str(name))) {
            return value;
        }
        known += (known.empty() ? "" : ", ") + name;
    }
    throw InvalidParameter(std::string(parameter_name) + "=" + std::string(py::repr(given)) +
                           " is unknown; give one of " + known);
}

template <typename Value>
std::string name_of_value(Value wanted, const std::vector<std::pair<std::string, Value>> &choices) {
    return std::ranges::find(choices, wanted, &std::pair<std::string, Value>::second)->first;
}

std::vector<int> lanes_of(const py::object &given) {
    if (given.is_none()) {
        return TransformRules{}.lanes;
    }
    std::vector<int> lanes;
    if (!py::isinstance<py::sequence>(given) || py::isinstance<py::str>(given)) {
        throw InvalidParameter("lanes=" + std::string(py::repr(given)) + "; give some of (1, 2, 4), or None for all");
    }
    for (const py::handle &lane : given) {
        lanes.push_back(parameter<int>("lanes", lane));
    }
    std::ranges::sort(lanes);
    return lanes;
}

// Asks a Python function for the cost of the text of a plan.
TransformCost cost_in_python(const py::object &function) {
    if (function.is_none()) {
        return {};
    }
    if (!PyCallable_Check(function.ptr())) {
        throw InvalidParameter("cost=" + std::string(py::repr(function)) +
                               "; give a function of a plan's text that returns microseconds, or None for the model");
    }
    return [function = PythonSpace::Value(function)](const TransformPlan &plan) {
        const py::gil_scoped_acquire gil;
        const auto cost = parameter<std::optional<double>>("cost(plan)", function.get()(plan.text()));
        if (cost && std::isnan(*cost)) {
            throw InvalidParameter("cost(plan) is NaN for '" + plan.text() +
                                   "'; return a number, or None where the plan is not acceptable");
        }
        return cost;
    };
}

TransformSpace make_space(const py::object &n, const py::object &rules, const py::object &order,
                          const py::object &lanes, const py::object &context, const py::object &cost) {
    return TransformSpace({.n = parameter<int>("n", n),
                           .rules = {named("space", rules, rules_by_name), lanes_of(lanes)},
                           .order = named("order", order, orders_by_name),
                           .context = parameter<double>("context", context),
                           .cost = cost_in_python(cost)});
}

py::tuple reduced(const TransformSpace &space) {
    if (!space.has_cost_of_model()) {
        throw py::type_error("a TransformSpace with a cost function cannot be pickled; pickle the plan's text");
    }
    const TransformRules &rules = space.closure().rules();
    return py::make_tuple(space.closure().n(), name_of_value(rules.rules, rules_by_name),
                          name_of_value(space.order(), orders_by_name), py::cast(rules.lanes),
                          space.tables().model().context());
}

TransformSpace restored(const py::tuple &reduced) {
    return make_space(reduced[0], reduced[1], reduced[2], reduced[3], reduced[4], py::none());
}

py::object to_python(const std::optional<Count> &count) {
    if (!count) {
        return py::none();
    }
    return (py::int_(static_cast<uint64_t>(*count >> 64)) << py::int_(64)) | py::int_(static_cast<uint64_t>(*count));
}

const TransformState &checked(const TransformSpace &space, const TransformState &state) {
    if (!space.owns(state)) {
        throw InvalidParameter("\"" + state.text() + "\" is a plan of " + std::to_string(state.space().closure().n()) +
                               " elements in another space than this one, of " + std::to_string(space.closure().n()) +
                               "; give a state that comes of this space's root, or of an equal one's");
    }
    return state;
}

TransformSpace::Decision checked_decision(const TransformSpace &space, const TransformState &state,
                                          const py::object &given) {
    const auto index = parameter<int64_t>("decision", given);
    const int64_t number = space.num_decisions(checked(space, state));
    if (index < 0 || index >= number) {
        throw InvalidParameter("decision " + std::to_string(index) + " of a plan with " + std::to_string(number) +
                               " decisions; give an index below that");
    }
    return space.decision(state, static_cast<uint32_t>(index));
}

ProblemId checked_problem(const TransformSpace &space, const py::object &given) {
    const auto id = parameter<int64_t>("problem", given);
    const auto number = static_cast<int64_t>(space.closure().num_problems());
    if (id < 0 || id >= number) {
        throw InvalidParameter("problem " + std::to_string(id) + " of a space with " + std::to_string(number) +
                               " problems; give an index below that");
    }
    return static_cast<ProblemId>(id);
}

py::list choices_of(const TransformSpace &space, const py::object &id) {
    py::list choices;
    for (const StepChoice &choice : space.closure().choices(checked_problem(space, id))) {
        const std::vector<ProblemId> subs(choice.subs.begin(),
                                          choice.subs.begin() + static_cast<ptrdiff_t>(choice.num_subs()));
        choices.append(py::make_tuple(to_string(choice.step), subs));
    }
    return choices;
}

double model_cost_of(const TransformSpace &space, const py::object &problem, const py::object &sub_plan) {
    const ProblemId id = checked_problem(space, problem);
    const PlanNodeRef plan = parse_plan(space.closure().problem(id), parameter<std::string>("sub_plan", sub_plan));
    return cost_of_sub_plan(space.tables(), id, *plan).microseconds;
}

}  // namespace

void bind_transform(py::module_ &m) {
    py::class_<TransformState> state(m, "TransformState",
                                     "A plan some of whose problems are open; an immutable value.");
    py::class_<TransformSpace> space(m, "TransformSpace", "Plans of a Fourier transform, as a space to search.");

    state.def_property_readonly("text", &TransformState::text, "The plan, with a ? for each open problem.")
        .def_property_readonly("space", &TransformState::space, "That it is a plan of.")
        .def_property_readonly(
            "plan", [](const TransformState &state) { return state.plan().text(); },
            "The text of the plan, with the fallback for all that is open.")
        .def_property_readonly("is_complete", &TransformState::is_complete)
        .def_property_readonly("model_cost",
                               [](const TransformState &state) { return state.tree()->cost.microseconds; })
        .def(py::self == py::self)
        .def("__hash__", [](const TransformState &state) { return state.tree()->hash; })
        .def("__repr__", [](const TransformState &state) { return "TransformState('" + state.text() + "')"; })
        .def(py::pickle(
            [](const TransformState &state) { return py::make_tuple(reduced(state.space()), state.text()); },
            [](const py::tuple &pickled) { return restored(pickled[0]).state(pickled[1].cast<std::string>()); }));
    def_copies(state);

    space
        .def(py::init(&make_space), py::arg("n") = TransformSpaceOptions{}.n, py::kw_only(), py::arg("space") = "basic",
             py::arg("order") = "any", py::arg("lanes") = py::none(), py::arg("context") = 0.0,
             py::arg("cost") = py::none())
        .def_property_readonly("n", [](const TransformSpace &space) { return space.closure().n(); })
        .def_property_readonly(
            "space",
            [](const TransformSpace &space) { return name_of_value(space.closure().rules().rules, rules_by_name); })
        .def_property_readonly("order",
                               [](const TransformSpace &space) { return name_of_value(space.order(), orders_by_name); })
        .def_property_readonly(
            "lanes", [](const TransformSpace &space) { return py::tuple(py::cast(space.closure().rules().lanes)); })
        .def_property_readonly("context", [](const TransformSpace &space) { return space.tables().model().context(); })
        .def_property_readonly("num_problems",
                               [](const TransformSpace &space) { return space.closure().num_problems(); })
        .def_property_readonly("num_pairs", [](const TransformSpace &space) { return space.closure().num_choices(); })
        .def_property_readonly("max_choices", &TransformSpace::max_choices)
        .def("count_plans", [](const TransformSpace &space) { return to_python(count_plans(space.closure())); })
        .def("count_words", [](const TransformSpace &space) { return to_python(count_words(space.closure())); })
        .def("count_walks", [](const TransformSpace &space) { return to_python(count_walks(space.closure())); })
        .def("optimum",
             [](const TransformSpace &space) {
                 const UnlockedWork work;
                 const TransformSpace::Optimum optimum = space.optimum();
                 return std::make_pair(optimum.cost, optimum.actions);
             })
        .def(
            "state",
            [](const TransformSpace &space, const py::object &text) {
                return space.state(parameter<std::string>("text", text));
            },
            py::arg("text"))
        .def(
            "problem",
            [](const TransformSpace &space, const py::object &id) {
                return space.closure().problem(checked_problem(space, id));
            },
            py::arg("problem"))
        .def("choices", &choices_of, py::arg("problem"))
        .def("model_cost_of", &model_cost_of, py::arg("problem"), py::arg("sub_plan"))
        .def(
            "steps",
            [](const TransformSpace &space, const TransformState &state) {
                std::vector<std::pair<int, std::string>> steps;
                auto children = space.children(checked(space, state));
                for (const TransformSpace::Decision &decision : children.decisions()) {
                    steps.emplace_back(decision.open, to_string(decision.step));
                }
                return steps;
            },
            py::arg("state"))
        .def("root", &TransformSpace::root)
        .def("is_complete", &TransformSpace::is_complete, py::arg("state"))
        .def("depth", &TransformSpace::depth, py::arg("state"))
        .def("max_depth", &TransformSpace::max_depth)
        .def(
            "decisions",
            [](const TransformSpace &space, const TransformState &state) {
                return py::module_::import("builtins").attr("range")(space.num_decisions(checked(space, state)));
            },
            py::arg("state"))
        .def(
            "apply",
            [](const TransformSpace &space, const TransformState &state, const py::object &decision) {
                return space.apply(state, checked_decision(space, state, decision));
            },
            py::arg("state"), py::arg("decision"))
        .def(
            "inherits_cost",
            [](const TransformSpace &space, const TransformState &state, const py::object &decision) {
                return space.inherits_cost(checked_decision(space, state, decision));
            },
            py::arg("state"), py::arg("decision"))
        .def(
            "hash",
            [](const TransformSpace &space, const TransformState &state, int depth) {
                return space.hash(checked(space, state), depth);
            },
            py::arg("state"), py::arg("depth"))
        .def(
            "cost",
            [](const TransformSpace &space, const TransformState &state) {
                const NativeWork work;  // a function in Python may let other threads run
                return space.cost(checked(space, state));
            },
            py::arg("state"))
        .def("__repr__",
             [](const py::object &space) {
                 return py::str("TransformSpace({0.n}, space={0.space!r}, order={0.order!r}, lanes={0.lanes}, "
                                "context={0.context})")
                     .format(space);
             })
        .def(py::pickle(&reduced, &restored));
    def_copies(space);
}

}  // namespace halidegym
