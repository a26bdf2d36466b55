#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <typeinfo>

namespace halidegym {

// The C++ object behind an object of the `halide` module (Pipeline, Func, Expr ...), by pybind11's conduit protocol:
// the two modules may be built with different versions of pybind11, as long as they share a C++ ABI. The reference
// lives no longer than `object`. Throws pybind11::type_error if `object` holds no T.
template <typename T>
const T &from_halide(pybind11::handle object) {
    namespace py = pybind11;
    constexpr const char *protocol = "_pybind11_conduit_v1_";
    // On a class (hl.Func instead of hl.Func()) the attribute is a plain function that lacks its object.
    if (!PyType_Check(object.ptr()) && py::hasattr(object, protocol)) {
        const std::type_info &type = typeid(T);
        const py::capsule type_capsule(&type, typeid(std::type_info).name());
        const py::object pointer = object.attr(protocol)(py::bytes(PYBIND11_PLATFORM_ABI_ID), type_capsule,
                                                         py::bytes("raw_pointer_ephemeral"));
        if (py::isinstance<py::capsule>(pointer)) {
            return *py::reinterpret_borrow<py::capsule>(pointer).get_pointer<const T>();
        }
    }
    throw py::type_error("expected a halide." + py::type_id<T>().substr(py::type_id<T>().rfind(':') + 1) + ", got " +
                         std::string(py::str(py::type::handle_of(object).attr("__name__"))) +
                         "; pass an object of the installed halide module");
}

}  // namespace halidegym
