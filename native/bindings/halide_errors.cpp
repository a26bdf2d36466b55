#include <Halide.h>
#include <pybind11/pybind11.h>

#include "bindings/topics.h"
#include "problem/error.h"

namespace halidegym {

// Halide::Error is no std::exception once HALIDE_WITH_EXCEPTIONS is set; rethrown as ours, the translators of
// module.cpp take it from there.
void bind_halide_errors(pybind11::module_ &) {
    pybind11::register_local_exception_translator([](std::exception_ptr error) {
        try {
            std::rethrow_exception(error);
        } catch (const Halide::Error &e) {
            throw CompileError(std::string("Halide: ") + e.what());
        }
    });
}

}  // namespace halidegym
