#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/topics.h"
#include "bindings/values.h"
#include "problem/error.h"
#include "transform/observation.h"
#include "transform/space.h"

namespace py = pybind11;

namespace halidegym {

namespace {

using TransformState = TransformSpace::State;

// Arrays of an observation, with the number of states in front if there are several.
class ObservationArrays {
public:
    ObservationArrays(std::optional<py::ssize_t> states, const TransformActions &actions, py::ssize_t rows,
                      bool estimates)
        : num_actions_(static_cast<py::ssize_t>(actions.size())), rows_(rows), estimates_(estimates) {
        const auto zeros = [&]<typename Value>(Value, const char *name, py::ssize_t size) {
            const std::vector<py::ssize_t> shape = states ? std::vector{*states, size} : std::vector{size};
            py::array_t<Value> array(shape);
            std::fill_n(array.mutable_data(), array.size(), Value{});
            arrays_[name] = array;
            return array.mutable_data();
        };
        problem_ = zeros(float{}, "problem", py::ssize_t{num_problem_columns});
        steps_ = zeros(float{}, "steps", rows * py::ssize_t{num_step_columns});
        step_mask_ = zeros(int8_t{}, "step_mask", rows);
        if (estimates) {
            estimates_data_ = zeros(float{}, "estimates", num_actions_);
        }
        action_mask_ = zeros(int8_t{}, "action_mask", num_actions_);
    }

    TransformObservation row(size_t i) const {
        const auto part = [i](auto *data, py::ssize_t size) {
            return std::span(data + i * static_cast<size_t>(size), static_cast<size_t>(size));
        };
        return {.problem = part(problem_, num_problem_columns),
                .steps = part(steps_, rows_ * py::ssize_t{num_step_columns}),
                .step_mask = part(step_mask_, rows_),
                .estimates = part(estimates_data_, estimates_ ? num_actions_ : 0),
                .action_mask = part(action_mask_, num_actions_)};
    }

    const py::dict &arrays() const { return arrays_; }

private:
    py::ssize_t num_actions_, rows_;
    bool estimates_;
    py::dict arrays_;
    float *problem_, *steps_, *estimates_data_ = nullptr;
    int8_t *step_mask_, *action_mask_;
};

// What environments see of plans, and what their actions mean.
struct TransformView {
    std::vector<TransformSpace> spaces;
    TransformActions actions;
    py::ssize_t rows;
    bool estimates;
};

TransformView make_view(std::vector<TransformSpace> spaces, bool estimates) {
    if (spaces.empty()) {
        throw InvalidParameter("spaces=() has none to look at; give at least one");
    }
    int rows = 0;
    for (const TransformSpace &space : spaces) {
        if (space.order() != DerivationOrder::First) {
            throw InvalidParameter("actions are about the first open problem; give spaces of order=\"first\"");
        }
        rows = std::max(rows, space.max_depth());
    }
    TransformActions actions(spaces);
    return {std::move(spaces), std::move(actions), rows, estimates};
}

const TransformState &checked(const TransformView &view, const TransformState &state) {
    if (std::ranges::none_of(view.spaces, [&](const TransformSpace &space) { return space.owns(state); })) {
        throw InvalidParameter("\"" + state.text() + "\" is a plan of " + std::to_string(state.space().closure().n()) +
                               " elements in none of the spaces that are looked at; give a state of one of them");
    }
    return state;
}

}  // namespace

void bind_transform_view(py::module_ &m) {
    py::class_<TransformView> view(
        m, "TransformView", "What environments see of plans, and what their actions mean; for one or more spaces.");
    view.def(py::init(&make_view), py::arg("spaces"), py::kw_only(), py::arg("estimates") = true)
        .def_property_readonly("actions",
                               [](const TransformView &view) {
                                   py::list names;
                                   for (const TransformStep &step : view.actions.steps()) {
                                       names.append(to_string(step));
                                   }
                                   return py::tuple(names);
                               })
        .def_property_readonly("rows", [](const TransformView &view) { return view.rows; })
        .def(
            "look",
            [](const TransformView &view, const TransformState &state) {
                const ObservationArrays arrays(std::nullopt, view.actions, view.rows, view.estimates);
                const size_t num_legal = observe(checked(view, state), view.actions, arrays.row(0));
                return py::make_tuple(arrays.arrays(), num_legal);
            },
            py::arg("state"))
        .def(
            "look_at_all",
            [](const TransformView &view, const std::vector<TransformState> &states) {
                const auto number = static_cast<py::ssize_t>(states.size());
                const ObservationArrays arrays(number, view.actions, view.rows, view.estimates);
                py::array_t<int64_t> num_legal(number);
                for (size_t i = 0; i < states.size(); i++) {
                    num_legal.mutable_at(static_cast<py::ssize_t>(i)) =
                        static_cast<int64_t>(observe(checked(view, states[i]), view.actions, arrays.row(i)));
                }
                return py::make_tuple(arrays.arrays(), num_legal);
            },
            py::arg("states"))
        .def(
            "step",
            [](const TransformView &view, const TransformState &state, int64_t action) {
                if (checked(view, state).is_complete()) {
                    throw InvalidParameter("the plan is complete; nothing is left to decide");
                }
                const TransformSpace space = state.space();
                const ProblemId id = open_problem(*state.tree(), 0).problem;
                const auto taken = view.actions.take(space.closure().choices(id), action);
                return py::make_tuple(space.apply(state, space.decision(state, taken.choice)), taken.is_legal);
            },
            py::arg("state"), py::arg("action"))
        .def(py::pickle([](const TransformView &pickled) { return py::make_tuple(pickled.spaces, pickled.estimates); },
                        [](const py::tuple &pickled) {
                            return make_view(pickled[0].cast<std::vector<TransformSpace>>(), pickled[1].cast<bool>());
                        }));
    def_copies(view);
}

}  // namespace halidegym
