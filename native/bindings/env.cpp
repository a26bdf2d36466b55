#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "bindings/array_dict.h"
#include "bindings/native_work.h"
#include "bindings/observation_arrays.h"
#include "bindings/topics.h"
#include "bindings/values.h"
#include "env/environment.h"
#include "problem/error.h"

namespace py = pybind11;

namespace halidegym {

namespace {

template <typename T>
using Array = py::array_t<T, py::array::c_style>;

// The keys of the information, made once.
struct Keys {
    py::str action_mask{"action_mask"};
    py::str num_legal_decisions{"num_legal_decisions"};
    py::str decisions_truncated{"decisions_truncated"};
    py::str evaluations{"evaluations"};
    py::str illegal_action{"illegal_action"};
};

const Keys &keys() {
    PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<Keys> keys;
    return keys.call_once_and_store_result([] { return Keys(); }).get_stored();
}

// What an environment was told last.
enum class Call { Start, Step };

// The arrays of an observation that stay the same, for Python to read alone: only what changes is written to them.
class OwnArrays {
public:
    explicit OwnArrays(const ObservationShape &shape) {
        auto name = observation_names().begin();
        for_each_array(view_, shape, [&]<typename T>(const char *, std::span<T> &part, int size) {
            const py::object array = array_of<T, 1>({size});
            auto *fields = py::detail::array_proxy(array.ptr());
            part = {reinterpret_cast<T *>(fields->data), static_cast<size_t>(size)};
            fields->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
            dict_[*name++] = array;
        });
    }

    py::dict observe(const Environment &environment) {
        environment.observe(shown_, view_);
        return copy_of(dict_);
    }

private:
    py::dict dict_;
    Observation view_;
    Shown shown_;
};

// As many of them as it takes for an observation to last through the next step.
class OwnObservations {
public:
    explicit OwnObservations(const ObservationShape &shape)
        : start_(shape), steps_{OwnArrays(shape), OwnArrays(shape)} {}

    py::dict observe(const Environment &environment, Call last) {
        if (last == Call::Start) {
            return start_.observe(environment);
        }
        latest_ = 1 - latest_;
        return steps_[latest_].observe(environment);
    }

private:
    OwnArrays start_;
    std::array<OwnArrays, 2> steps_;
    size_t latest_ = 0;
};

// An environment that shows Python where it is: in arrays that belong to the caller, or in its own.
class ShownEnvironment : public Environment {
public:
    ShownEnvironment(ObservationShape shape, bool skip_forced, bool copy) : Environment(shape, skip_forced) {
        if (!copy) {
            own_.emplace(shape);
        }
    }

    bool copies() const { return !own_; }

    py::dict observe() { return own_ ? own_->observe(*this, Call::Start) : next_frame().observe(*this); }

    // The observation, and the information that all steps have.
    std::pair<py::dict, py::dict> look(Call last) {
        Frame &frame = next_frame();
        py::dict observation = own_ ? own_->observe(*this, last) : frame.observe(*this);
        const int num_actions = shape().decisions;
        const int64_t num_legal = num_legal_decisions();
        const auto mask = frame.information.memory<int8_t>(0, keys().action_mask, num_actions);
        std::fill(std::fill_n(mask.begin(), std::min<int64_t>(num_legal, num_actions), int8_t{1}), mask.end(),
                  int8_t{0});
        py::dict information = frame.information.copy();
        information[keys().num_legal_decisions] = num_legal;
        information[keys().decisions_truncated] = num_legal > num_actions;
        information[keys().evaluations] = num_evaluations();
        return {std::move(observation), std::move(information)};
    }

private:
    struct Frame {
        ArrayDict observation;
        ArrayDict information;

        py::dict observe(const Environment &environment) {
            Observation view;
            size_t i = 0;
            for_each_array(view, environment.shape(), [&]<typename T>(const char *, std::span<T> &part, int size) {
                part = observation.memory<T>(i, observation_names()[i], size);
                i++;
            });
            environment.observe(view);
            return observation.copy();
        }
    };

    // Whoever takes a step mostly has what the last one showed until it is done, but not what came before that.
    Frame &next_frame() {
        std::swap(frames_[0], frames_[1]);
        return frames_[0];
    }

    std::array<Frame, 2> frames_;
    std::optional<OwnObservations> own_;
};

void start_unlocked(ShownEnvironment &environment, State state, double reference_cost, int64_t evaluations) {
    const UnlockedWork work;
    environment.start({std::move(state), reference_cost, evaluations});
}

// One call where two would do: each takes a fifteenth of the instructions of a short step.
std::pair<py::dict, py::dict> start_and_look(ShownEnvironment &environment, State state, double reference_cost,
                                             int64_t evaluations) {
    start_unlocked(environment, std::move(state), reference_cost, evaluations);
    return environment.look(Call::Start);
}

std::pair<py::dict, py::dict> step_and_look(ShownEnvironment &environment, int64_t action) {
    const bool is_legal = [&] {
        const UnlockedWork work;
        return environment.step(action);
    }();
    auto shown = environment.look(Call::Step);
    shown.second[keys().illegal_action] = !is_legal;
    return shown;
}

std::pair<State, std::optional<double>> end_of(const ShownEnvironment &environment) {
    return {environment.state(), environment.cost()};
}

Array<int64_t> presented_decisions(const ShownEnvironment &environment) {
    const std::vector<int64_t> indices = environment.presented_decisions();
    return Array<int64_t>(static_cast<py::ssize_t>(indices.size()), indices.data());
}

py::tuple to_tuple(const ShownEnvironment &environment) {
    const auto here = environment.here();
    return py::make_tuple(environment.shape(), environment.skips_forced(), environment.copies(),
                          here ? std::optional(here->state) : std::nullopt, here ? here->reference_cost : 1,
                          here ? here->num_evaluations : 0);
}

std::unique_ptr<ShownEnvironment> environment(const py::tuple &pickled) {
    auto result = std::make_unique<ShownEnvironment>(pickled[0].cast<ObservationShape>(), pickled[1].cast<bool>(),
                                                     pickled[2].cast<bool>());
    if (auto state = pickled[3].cast<std::optional<State>>()) {
        result->start({*std::move(state), pickled[4].cast<double>(), pickled[5].cast<int64_t>()});
    }
    return result;
}

}  // namespace

void bind_env(py::module_ &m) {
    py::class_<ObservationShape> shape(m, "ObservationShape", "Sizes of the arrays of an observation.");
    shape
        .def(py::init([](int stages, int edges, int loops, int decisions, bool child_features) {
                 return checked(ObservationShape{stages, edges, loops, decisions, child_features});
             }),
             py::kw_only(), py::arg("stages"), py::arg("edges"), py::arg("loops"), py::arg("decisions"),
             py::arg("child_features") = false)
        .def_static(
            "of", [](const std::shared_ptr<Space> &space) { return shape_of(*space->problem); },
            py::arg("space").none(false), "The smallest shape that holds the problem of a space, with one decision.")
        .def_readonly("stages", &ObservationShape::stages)
        .def_readonly("edges", &ObservationShape::edges)
        .def_readonly("loops", &ObservationShape::loops)
        .def_readonly("decisions", &ObservationShape::decisions)
        .def_readonly("child_features", &ObservationShape::child_features)
        .def_property_readonly("descriptor_size", &ObservationShape::descriptor_size)
        .def("__repr__",
             [](const ObservationShape &s) {
                 return py::str("ObservationShape(stages={}, edges={}, loops={}, decisions={}, child_features={})")
                     .format(s.stages, s.edges, s.loops, s.decisions, s.child_features);
             })
        .def(py::pickle(
            [](const ObservationShape &s) {
                return py::make_tuple(s.stages, s.edges, s.loops, s.decisions, s.child_features);
            },
            [](const py::tuple &pickled) {
                return checked(ObservationShape{pickled[0].cast<int>(), pickled[1].cast<int>(), pickled[2].cast<int>(),
                                                pickled[3].cast<int>(), pickled[4].cast<bool>()});
            }));
    def_copies(shape);

    // Types of this module alone are found without the lock that modules share, once a step.
    py::class_<ShownEnvironment>(m, "Environment", "An episode over the decisions of a schedule.", py::module_local())
        .def(py::init<ObservationShape, bool, bool>(), py::arg("shape"), py::kw_only(), py::arg("skip_forced") = true,
             py::arg("copy") = true)
        .def("start", &start_unlocked, py::arg("state"), py::arg("reference_cost") = 1.0, py::arg("evaluations") = 0,
             "Begin in a state, or in the next one that offers a choice.")
        .def("step", &Environment::step, py::arg("action"), py::call_guard<UnlockedWork>(),
             "Take a decision; whether the action was legal.")
        .def("observe", &ShownEnvironment::observe, "The observation as a dict of arrays, each of one dimension.")
        .def("start_and_look", &start_and_look, py::arg("state"), py::arg("reference_cost"), py::arg("evaluations"),
             "Begin as `start` does: the observation, and what else there is to tell of every position.")
        .def("step_and_look", &step_and_look, py::arg("action"), "The same after a step.")
        .def("end", &end_of, "The state, and its cost if it is complete.")
        .def_property_readonly("state", &Environment::state)
        .def_property_readonly("shape", [](const ShownEnvironment &environment) { return environment.shape(); })
        .def_property_readonly("num_legal_decisions", &Environment::num_legal_decisions)
        .def_property_readonly("evaluations", &Environment::num_evaluations)
        .def("presented_decisions", &presented_decisions,
             "Indices into the legal decisions that the actions stand for, int64.")
        .def(py::pickle(&to_tuple, &environment));
}

}  // namespace halidegym
