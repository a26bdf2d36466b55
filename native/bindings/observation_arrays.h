#pragma once

#include <pybind11/numpy.h>

#include <array>
#include <vector>

#include "env/observation.h"

namespace halidegym {

// The names of an observation's arrays, made once, in the order of `for_each_array`.
inline const std::vector<pybind11::str> &observation_names() {
    using Names = std::vector<pybind11::str>;
    PYBIND11_CONSTINIT static pybind11::gil_safe_call_once_and_store<Names> names;
    return names
        .call_once_and_store_result([] {
            Names all;
            Observation none;
            for_each_array(none, {.child_features = true},
                           [&](const char *name, auto &, int) { all.emplace_back(name); });
            return all;
        })
        .get_stored();
}

// A dict with these keys, in their order. Quicker to fill than one that grows.
inline pybind11::dict copy_of(const pybind11::dict &dict) {
    auto result = pybind11::reinterpret_steal<pybind11::dict>(PyDict_Copy(dict.ptr()));
    if (!result) {
        throw pybind11::error_already_set();
    }
    return result;
}

// An array of this shape. If there is memory, it lies there and keeps `owner`; else it has its own. As
// pybind11::array_t<T> makes it, without the detour over vectors of its shape and strides.
template <typename T, size_t dimensions>
pybind11::object array_of(std::array<Py_intptr_t, dimensions> shape, T *memory = nullptr, pybind11::handle owner = {}) {
    auto &api = pybind11::detail::npy_api::get();
    const int flags = memory != nullptr ? pybind11::detail::npy_api::NPY_ARRAY_WRITEABLE_ : 0;
    auto array = pybind11::reinterpret_steal<pybind11::object>(
        api.PyArray_NewFromDescr_(api.PyArray_Type_, pybind11::dtype::of<T>().release().ptr(), int{dimensions},
                                  shape.data(), nullptr, memory, flags, nullptr));
    if (!array || (owner && api.PyArray_SetBaseObject_(array.ptr(), owner.inc_ref().ptr()) != 0)) {
        throw pybind11::error_already_set();
    }
    return array;
}

}  // namespace halidegym
