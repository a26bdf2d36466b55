#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <random>

#include "bindings/expansion.h"
#include "bindings/topics.h"
#include "bindings/values.h"
#include "nest/directives.h"
#include "nest/dump.h"
#include "problem/error.h"
#include "search/spaces/splitmix.h"
#include "state/state.h"

namespace py = pybind11;

namespace halidegym {

namespace {

std::pair<int64_t, State> random_decision(const State &state, uint64_t seed) {
    Expansion expansion(state);
    const auto decisions = expansion.decisions();
    if (decisions.empty()) {
        throw SearchExhausted(state.is_complete() ? "the schedule is complete; no decision is left"
                                                  : "this state has no legal decision");
    }
    std::mt19937_64 random(seed);
    const uint64_t index = uniform_below(random, decisions.size());
    return {static_cast<int64_t>(index), expansion.child(decisions[index])};
}

void require_incomplete(const State &state) {
    if (state.is_complete()) {
        throw InvalidParameter("the schedule is complete; no decision is left");
    }
}

std::shared_ptr<Space> make_space(std::shared_ptr<Problem> problem, const Weights &weights, bool subtiling,
                                  int64_t memory_limit, double max_recompute) {
    if (!(max_recompute >= 1)) {
        throw InvalidParameter("max_recompute=" + std::to_string(max_recompute) +
                               " is out of range; give a number of at least 1");
    }
    auto model = std::make_shared<const CostModel>(*problem, std::make_shared<const Network>(weights));
    return std::make_shared<Space>(std::move(problem), std::move(model),
                                   SpaceOptions{subtiling, memory_limit, max_recompute});
}

std::shared_ptr<Problem> problem_of(const Space &space) {
    return std::const_pointer_cast<Problem>(space.problem);
}

std::shared_ptr<Space> space_of(const State &state) {
    return std::const_pointer_cast<Space>(state.space_ref());
}

py::tuple to_tuple(const Space &space) {
    return py::make_tuple(problem_of(space), space.cost_model->network().weights(), space.options.subtiling,
                          space.options.memory_limit, space.options.max_recompute);
}

std::string repr(const Space &space) {
    const auto &[subtiling, memory_limit, max_recompute] = space.options;
    const py::object limit = memory_limit < 0 ? py::none() : py::object(py::int_(memory_limit));
    return py::str("Space({!r}, subtiling={}, memory_limit={}, max_recompute={})")
        .format(space.problem->name, subtiling, limit, max_recompute);
}

std::shared_ptr<Space> space(const py::tuple &pickled) {
    return make_space(pickled[0].cast<std::shared_ptr<Problem>>(), pickled[1].cast<const Weights &>(),
                      pickled[2].cast<bool>(), pickled[3].cast<int64_t>(), pickled[4].cast<double>());
}

std::string repr(const State &state) {
    return py::str("State({!r}, {} of {} decisions made)")
        .format(state.space().problem->name, state.num_decisions_made(), state.num_decisions());
}

State state(const py::tuple &pickled) {
    State result(pickled[0].cast<std::shared_ptr<Space>>());
    for (const Decision &decision : pickled[1].cast<std::vector<Decision>>()) {
        auto child = Expansion::child_if_legal(result, decision);
        if (!child) {
            throw FormatError("this is no state of '" + result.space().problem->name + "': " + repr(decision) +
                              " is not legal after " + std::to_string(result.num_decisions_made()) +
                              " decisions; pickle the state again with this version of halidegym");
        }
        result = *std::move(child);
    }
    return result;
}

void bind_space(py::class_<Space, std::shared_ptr<Space>> &type) {
    type.def(py::init(&make_space), py::arg("problem").none(false), py::arg("weights"), py::kw_only(),
             py::arg("subtiling") = true, py::arg("memory_limit") = -1,
             py::arg("max_recompute") = SpaceOptions().max_recompute)
        .def_property_readonly("problem", &problem_of)
        .def_property_readonly("weights", [](const Space &space) { return space.cost_model->network().weights(); })
        .def_property_readonly("subtiling", [](const Space &space) { return space.options.subtiling; })
        .def_property_readonly("memory_limit", [](const Space &space) { return space.options.memory_limit; })
        .def_property_readonly("max_recompute", [](const Space &space) { return space.options.max_recompute; })
        .def("initial_state", [](const std::shared_ptr<Space> &space) { return State(space); })
        .def("__repr__", [](const Space &space) { return repr(space); })
        .def(py::pickle([](const Space &space) { return to_tuple(space); }, &space));
    def_copies(type);
}

void bind_states(py::class_<State> &type) {
    type.def_property_readonly("space", &space_of)
        .def_property_readonly("nest",
                               [](const State &state) { return describe(*state.space().problem, *state.nest()); })
        .def_property_readonly("decisions_made", &State::decisions_made)
        .def_property_readonly("num_decisions_made", &State::num_decisions_made)
        .def_property_readonly("num_decisions", &State::num_decisions)
        .def_property_readonly("is_complete", &State::is_complete)
        .def_property_readonly("next_func",
                               [](const State &state) {
                                   require_incomplete(state);
                                   return state.next_func().name;
                               })
        .def_property_readonly("next_phase",
                               [](const State &state) {
                                   require_incomplete(state);
                                   return state.next_phase() == Phase::Place ? "place" : "parallelize";
                               })
        .def("expand", [](const State &state) { return BoundExpansion(state); })
        .def(
            "apply", [](const State &state, int64_t index) { return BoundExpansion(state).child(index); },
            py::arg("index"))
        .def(
            "child_if_legal",
            [](const State &state, const Decision &decision) { return Expansion::child_if_legal(state, decision); },
            py::arg("decision"))
        .def("random_decision", &random_decision, py::arg("seed"))
        .def("cost",
             [](const State &state) {
                 Evaluator evaluator(state.space_ref());
                 return state.cost(evaluator);
             })
        .def("features",
             [](const State &state) {
                 Evaluator evaluator(state.space_ref());
                 return to_tuple(evaluator.features(state.nest()));
             })
        .def("hash", &State::hash, py::arg("depth"))
        .def("directives",
             [](const State &state) {
                 if (!state.is_complete()) {
                     throw InvalidParameter("the schedule is incomplete; make the remaining decisions first");
                 }
                 return directives(*state.space().problem, *state.nest());
             })
        .def("dump", [](const State &state) { return dump(*state.space().problem, *state.nest()); })
        .def("__repr__", [](const State &state) { return repr(state); })
        .def(py::pickle([](const State &state) { return py::make_tuple(space_of(state), state.decisions_made()); },
                        &state));
    def_copies(type);
}

}  // namespace

// Each class is made before the methods of any, whose signatures name them.
void bind_state(py::module_ &m) {
    py::class_<Space, std::shared_ptr<Space>> space(m, "Space",
                                                    "A problem, the rules of its schedules, and its cost model.");
    py::class_<Decision> decision(m, "Decision",
                                  "One decision, recognizable among those of other states; an immutable value.");
    py::class_<BoundExpansion> expansion(m, "Expansion",
                                         "The legal decisions of one state, and the children they lead to.");
    py::class_<State> state(m, "State", "A partial or complete schedule; an immutable value.");
    bind_space(space);
    bind_decision(decision);
    bind_expansion(expansion);
    bind_states(state);
}

}  // namespace halidegym
