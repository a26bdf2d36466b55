#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>

#include "bindings/native_work.h"
#include "bindings/topics.h"
#include "env/vector_environment.h"
#include "problem/error.h"

namespace py = pybind11;

namespace halidegym {

namespace {

template <typename T>
using Argument = py::array_t<T, py::array::c_style>;

template <typename T>
std::span<const T> view(const Argument<T> &array) {
    return {array.data(), static_cast<size_t>(array.size())};
}

// A part of the batch as an array that only the environments write, and that keeps them alive.
template <typename T>
py::array read_only_view(const py::object &owner, std::span<T> part, std::vector<py::ssize_t> shape) {
    py::array array(py::dtype::of<std::remove_const_t<T>>(), std::move(shape), part.data(), owner);
    py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    return array;
}

template <typename Member>
auto column(Member member) {
    return [member](const py::object &self) {
        const Batch &batch = self.cast<const VectorEnvironment &>().batch();
        return read_only_view(self, std::span(batch.*member), {static_cast<py::ssize_t>(batch.size())});
    };
}

py::dict observation(const py::object &self) {
    const auto &environment = self.cast<const VectorEnvironment &>();
    const auto size = static_cast<py::ssize_t>(environment.batch().size());
    Observation all = environment.batch().all;
    py::dict arrays;
    for_each_array(all, environment.shape(), [&](const char *name, auto &part, int length) {
        arrays[name] = read_only_view(self, part, {size, static_cast<py::ssize_t>(length)});
    });
    return arrays;
}

// An array in memory of its own, which is handed out again when it is let go of.
template <typename T>
py::array new_array(const SpareMemory &spare, size_t rows, int columns, std::span<T> &view) {
    const size_t count = rows * static_cast<size_t>(columns);
    auto block = std::make_unique<SpareMemory::Block>(spare.take(count * sizeof(T)));
    view = {reinterpret_cast<T *>(block->get()), count};
    const py::capsule owner(block.get(), [](void *held) { delete static_cast<SpareMemory::Block *>(held); });
    block.release();
    return py::array(py::dtype::of<T>(), {static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)},
                     view.data(), owner);
}

py::dict copy_observation(const VectorEnvironment &environment) {
    py::dict arrays;
    Observation views;
    for_each_array(views, environment.shape(), [&](const char *name, auto &part, int length) {
        arrays[name] = new_array(environment.spare_memory(), environment.batch().size(), length, part);
    });
    {
        const UnlockedWork work;
        environment.copy_to(views);
    }
    return arrays;
}

void start(VectorEnvironment &environment, std::vector<std::optional<State>> states,
           const std::vector<double> &reference_costs) {
    if (!reference_costs.empty() && reference_costs.size() != states.size()) {
        throw InvalidParameter("reference_costs has " + std::to_string(reference_costs.size()) +
                               " elements; give one for each of " + std::to_string(states.size()) +
                               " states, or none for 1");
    }
    const UnlockedWork work;
    std::vector<std::optional<Start>> starts(states.size());
    for (size_t i = 0; i < states.size(); i++) {
        if (states[i]) {
            starts[i].emplace(*std::move(states[i]), reference_costs.empty() ? 1 : reference_costs[i]);
        }
    }
    environment.start(std::move(starts));
}

void restart(VectorEnvironment &environment, const Argument<bool> &chosen) {
    const auto chosen_view = view(chosen);
    const UnlockedWork work;
    environment.restart(chosen_view);
}

void step(VectorEnvironment &environment, const Argument<int64_t> &actions, const Argument<bool> &chosen) {
    const auto actions_view = view(actions);
    const auto chosen_view = view(chosen);
    const UnlockedWork work;
    environment.step(actions_view, chosen_view);
}

}  // namespace

void bind_env_vector(py::module_ &m) {
    py::class_<VectorEnvironment>(m, "VectorEnvironment", "Environments that take their steps together, in threads.")
        .def(py::init<ObservationShape, bool, int, int>(), py::arg("shape"), py::kw_only(),
             py::arg("skip_forced") = true, py::arg("num_envs"), py::arg("threads") = 1)
        .def("start", &start, py::arg("states"), py::arg("reference_costs") = std::vector<double>(),
             "Begin in these states; environments without one go on.")
        .def("restart", &restart, py::arg("chosen"), "Begin again where the chosen environments began last.")
        .def("step", &step, py::arg("actions"), py::arg("chosen"), "Take an action in each chosen environment.")
        .def("copy_observation", &copy_observation, "What `observation` shows, in new arrays.")
        .def("state", &VectorEnvironment::state, py::arg("index"))
        .def_property_readonly("shape", [](const VectorEnvironment &environment) { return environment.shape(); })
        .def_property_readonly("observation", &observation)
        .def_property_readonly("num_legal_decisions", column(&Batch::num_legal_decisions))
        .def_property_readonly("evaluations", column(&Batch::num_evaluations))
        .def_property_readonly("cost", column(&Batch::cost))
        .def_property_readonly("terminated", column(&Batch::terminated))
        .def_property_readonly("illegal_action", column(&Batch::illegal_action));
}

}  // namespace halidegym
