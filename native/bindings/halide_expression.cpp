#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/conduit.h"
#include "bindings/topics.h"
#include "halide/compile_expression.h"

namespace py = pybind11;

namespace halidegym {

void bind_halide_expression(py::module_ &m) {
    m.def(
        "compile_expression",
        [](py::handle expression, const std::vector<std::string> &symbols) {
            return compile_expression(from_halide<Halide::Expr>(expression), symbols);
        },
        py::arg("expression"), py::arg("symbols"),
        "Compile a `halide.Expr` over the int32 variables with these names, symbol i being the i-th of them.");
    m.def(
        "simplify_to_integer",
        [](py::handle expression, const std::vector<std::string> &symbols, const std::vector<int64_t> &values) {
            return simplify_to_integer(from_halide<Halide::Expr>(expression), symbols, values);
        },
        py::arg("expression"), py::arg("symbols"), py::arg("values"),
        "What Halide's simplifier makes of a `halide.Expr` for these values of its variables: the reference for\n"
        "`compile_expression()`. Raises InternalError if that is no integer constant.");
}

}  // namespace halidegym
