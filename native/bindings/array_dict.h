#pragma once

#include <pybind11/numpy.h>

#include <span>
#include <vector>

#include "bindings/observation_arrays.h"

namespace halidegym {

// Arrays of one dimension for what is shown call after call, under the same names and in the same sizes. Python may
// keep what it gets, and write to it: an array is handed out again when nobody refers to it any longer, and made anew
// until then. That takes a tenth of the time of making all of them.
class ArrayDict {
public:
    // The memory of the i-th array; anything may be in it. To be asked for in the order of the names.
    template <typename T>
    std::span<T> memory(size_t i, const pybind11::str &name, int size) {
        if (i == arrays_.size()) {
            arrays_.push_back({});
        }
        if (arrays_[i].array == nullptr || !is_as_made<T>(arrays_[i], size)) {
            const pybind11::object array = array_of<T, 1>({size});
            dict_[name] = array;
            arrays_[i] = {array.ptr(), fields(array.ptr())->descr};
        }
        return {reinterpret_cast<T *>(fields(arrays_[i].array)->data), static_cast<size_t>(size)};
    }

    // Keeps the place of the i-th array, which the caller puts into each copy.
    void leave_out(size_t i, const pybind11::str &name) {
        if (i == arrays_.size()) {
            arrays_.push_back({});
            dict_[name] = pybind11::none();
        }
    }

    // For the caller.
    pybind11::dict copy() const { return copy_of(dict_); }

private:
    // An array of the dict; null if it is left out.
    struct Made {
        PyObject *array = nullptr;
        const PyObject *type = nullptr;  // of its elements
    };

    static const pybind11::detail::PyArray_Proxy *fields(PyObject *array) {
        return pybind11::detail::array_proxy(array);
    }

    // Nobody else has it, nor would notice, and whoever had it left its shape and type alone.
    template <typename T>
    static bool is_as_made(const Made &made, int size) {
        const auto *now = fields(made.array);
        return Py_REFCNT(made.array) == 1 && *PyObject_GET_WEAKREFS_LISTPTR(made.array) == nullptr && now->nd == 1 &&
               now->dimensions[0] == size && now->strides[0] == sizeof(T) && now->flags == flags_of_new &&
               now->descr == made.type;
    }

    using Api = pybind11::detail::npy_api;
    static constexpr int flags_of_new = Api::NPY_ARRAY_C_CONTIGUOUS_ | Api::NPY_ARRAY_F_CONTIGUOUS_ |
                                        Api::NPY_ARRAY_OWNDATA_ | Api::NPY_ARRAY_ALIGNED_ | Api::NPY_ARRAY_WRITEABLE_;

    pybind11::dict dict_;
    std::vector<Made> arrays_;
};

}  // namespace halidegym
