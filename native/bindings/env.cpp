#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "bindings/native_work.h"
#include "bindings/topics.h"
#include "bindings/values.h"
#include "env/environment.h"
#include "problem/error.h"

namespace py = pybind11;

namespace halidegym {

namespace {

template <typename T>
using Array = py::array_t<T, py::array::c_style>;

// The names of the parts of an observation, made once.
const std::vector<py::str> &part_names() {
    PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<std::vector<py::str>> names;
    return names
        .call_once_and_store_result([] {
            std::vector<py::str> result;
            Observation none;
            for_each_array(none, {.child_features = true},
                           [&](const char *name, auto &, int) { result.emplace_back(name); });
            return result;
        })
        .get_stored();
}

// As py::array_t<T>(size) makes it, without the detour over vectors of its shape and strides.
template <typename T>
py::object new_array(int size, std::span<T> &view) {
    auto &api = py::detail::npy_api::get();
    Py_intptr_t shape = size;
    auto array = py::reinterpret_steal<py::object>(api.PyArray_NewFromDescr_(
        api.PyArray_Type_, py::dtype::of<T>().release().ptr(), 1, &shape, nullptr, nullptr, 0, nullptr));
    if (!array) {
        throw py::error_already_set();
    }
    view = {reinterpret_cast<T *>(py::detail::array_proxy(array.ptr())->data), static_cast<size_t>(size)};
    return array;
}

Observation observe_into(py::dict &arrays, const Environment &environment) {
    Observation view;
    auto name = part_names().begin();
    for_each_array(view, environment.shape(), [&]<typename T>(const char *, std::span<T> &part, int size) {
        arrays[*name++] = new_array(size, part);
    });
    environment.observe(view);
    return view;
}

py::dict observe(const Environment &environment) {
    py::dict arrays;
    observe_into(arrays, environment);
    return arrays;
}

template <typename... More>
py::tuple look_with(const Environment &environment, More... more) {
    py::dict arrays;
    const Observation view = observe_into(arrays, environment);
    std::span<int8_t> copy;
    py::object action_mask = new_array(environment.shape().decisions, copy);
    std::ranges::copy(view.action_mask, copy.begin());
    return py::make_tuple(std::move(arrays), std::move(action_mask), environment.num_legal_decisions(), more...);
}

py::tuple look(const Environment &environment) {
    return look_with(environment);
}

py::tuple step_and_look(Environment &environment, int64_t action) {
    const bool is_legal = [&] {
        const UnlockedWork work;
        return environment.step(action);
    }();
    return look_with(environment, is_legal);
}

Array<int64_t> presented_decisions(const Environment &environment) {
    const std::vector<int64_t> indices = environment.presented_decisions();
    return Array<int64_t>(static_cast<py::ssize_t>(indices.size()), indices.data());
}

py::tuple to_tuple(const Environment &environment) {
    const auto here = environment.here();
    return py::make_tuple(environment.shape(), environment.skips_forced(),
                          here ? std::optional(here->state) : std::nullopt, here ? here->reference_cost : 1,
                          here ? here->num_evaluations : 0);
}

std::unique_ptr<Environment> environment(const py::tuple &pickled) {
    auto result = std::make_unique<Environment>(pickled[0].cast<ObservationShape>(), pickled[1].cast<bool>());
    if (auto state = pickled[2].cast<std::optional<State>>()) {
        result->start({*std::move(state), pickled[3].cast<double>(), pickled[4].cast<int64_t>()});
    }
    return result;
}

}  // namespace

void bind_env(py::module_ &m) {
    py::class_<ObservationShape> shape(m, "ObservationShape", "Sizes of the arrays of an observation.");
    shape
        .def(py::init([](int stages, int edges, int loops, int decisions, bool child_features) {
                 return ObservationShape{stages, edges, loops, decisions, child_features};
             }),
             py::kw_only(), py::arg("stages"), py::arg("edges"), py::arg("loops"), py::arg("decisions"),
             py::arg("child_features") = false)
        .def_static(
            "of", [](const std::shared_ptr<Space> &space) { return shape_of(*space->problem); }, py::arg("space"),
            "The smallest shape that holds the problem of a space, with one decision.")
        .def_readonly("stages", &ObservationShape::stages)
        .def_readonly("edges", &ObservationShape::edges)
        .def_readonly("loops", &ObservationShape::loops)
        .def_readonly("decisions", &ObservationShape::decisions)
        .def_readonly("child_features", &ObservationShape::child_features)
        .def_property_readonly("descriptor_size", &ObservationShape::descriptor_size)
        .def(py::pickle(
            [](const ObservationShape &s) {
                return py::make_tuple(s.stages, s.edges, s.loops, s.decisions, s.child_features);
            },
            [](const py::tuple &pickled) {
                return ObservationShape{pickled[0].cast<int>(), pickled[1].cast<int>(), pickled[2].cast<int>(),
                                        pickled[3].cast<int>(), pickled[4].cast<bool>()};
            }));
    def_copies(shape);

    py::class_<Environment>(m, "Environment", "An episode over the decisions of a schedule.")
        .def(py::init<ObservationShape, bool>(), py::arg("shape"), py::kw_only(), py::arg("skip_forced") = true)
        .def(
            "start",
            [](Environment &environment, State state, double reference_cost, int64_t evaluations) {
                const UnlockedWork work;
                environment.start({std::move(state), reference_cost, evaluations});
            },
            py::arg("state"), py::arg("reference_cost") = 1.0, py::arg("evaluations") = 0,
            "Begin in a state, or in the next one that offers a choice.")
        .def("step", &Environment::step, py::arg("action"), py::call_guard<UnlockedWork>(),
             "Take a decision; whether the action was legal.")
        .def("observe", &observe, "The observation as a dict of new arrays, each of one dimension.")
        .def("look", &look, "The observation, a copy of its action mask, and the number of legal decisions.")
        .def("step_and_look", &step_and_look, py::arg("action"), "A step, what `look` returns then, and its legality.")
        .def("cost", &Environment::cost, "Of the complete schedule.")
        .def_property_readonly("state", &Environment::state)
        .def_property_readonly("shape", [](const Environment &environment) { return environment.shape(); })
        .def_property_readonly("num_legal_decisions", &Environment::num_legal_decisions)
        .def_property_readonly("evaluations", &Environment::num_evaluations)
        .def("presented_decisions", &presented_decisions,
             "Indices into the legal decisions that the actions stand for, int64.")
        .def(py::pickle(&to_tuple, &environment));
}

}  // namespace halidegym
