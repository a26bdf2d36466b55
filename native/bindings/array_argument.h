#pragma once

#include <pybind11/numpy.h>

#include <span>

namespace halidegym {

// An array that Python gives, to be read as it lies in memory. NumPy has arrays whose elements lie apart or begin
// anywhere, such as np.frombuffer(..., offset=1): they are copied. With pybind11::array::forcecast as `conversion`,
// elements of other types are converted even where that loses something.
template <typename T, int conversion = 0>
using ArrayArgument = pybind11::array_t<T, int{pybind11::array::c_style} |
                                               int{pybind11::detail::npy_api::NPY_ARRAY_ALIGNED_} | conversion>;

template <typename T, int flags>
std::span<const T> elements(const pybind11::array_t<T, flags> &array) {
    return {array.data(), static_cast<size_t>(array.size())};
}

}  // namespace halidegym
