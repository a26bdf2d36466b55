#pragma once

#include <pybind11/pybind11.h>

namespace halidegym {

// For immutable values: a copy is the value itself.
template <typename T, typename... Options>
void def_copies(pybind11::class_<T, Options...> &type) {
    type.def("__copy__", [](pybind11::object self) { return self; });
    type.def("__deepcopy__", [](pybind11::object self, const pybind11::dict &) { return self; }, pybind11::arg("memo"));
}

}  // namespace halidegym
