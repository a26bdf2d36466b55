#include <pybind11/pybind11.h>

#include <algorithm>

#include "bindings/topics.h"
#include "problem/error.h"

namespace py = pybind11;

namespace {

// Later registrations are tried first, so each exception is registered after its base.
void register_errors(py::module_ &m) {
    using namespace halidegym;
    const auto value_error = py::reinterpret_borrow<py::object>(PyExc_ValueError);
    const py::object error = py::register_local_exception<Error>(m, "Error");
    const py::tuple error_and_value_error = py::make_tuple(error, value_error);
    py::register_local_exception<InvalidParameter>(m, "InvalidParameter", error_and_value_error);
    const py::object unsupported = py::register_local_exception<UnsupportedPipeline>(m, "UnsupportedPipeline", error);
    py::register_local_exception<MissingEstimate>(m, "MissingEstimate", unsupported);
    py::register_local_exception<FormatError>(m, "FormatError", error_and_value_error);
    py::register_local_exception<SearchExhausted>(m, "SearchExhausted", error);
    py::register_local_exception<OutOfResources>(m, "OutOfResources", error);
    py::register_local_exception<CompileError>(m, "CompileError", error);
    py::register_local_exception<InternalError>(m, "InternalError", error);
    bind_halide_errors(m);
}

// Protocols 0 and 1 would make an object of pybind11's own base, which aborts the process. They can hold what Python
// reduces for protocol 2, too.
void pickle_by_all_protocols(const py::module_ &m) {
    const py::object reduce = py::module_::import("builtins").attr("object").attr("__reduce_ex__");
    const py::handle base = py::detail::get_internals().instance_base;
    for (const auto &[name, value] : m.attr("__dict__").cast<py::dict>()) {
        if (py::isinstance<py::type>(value) && PyObject_IsSubclass(value.ptr(), base.ptr()) == 1) {
            const auto reduce_ex = [reduce](const py::object &self, int protocol) {
                return reduce(self, std::max(protocol, 2));
            };
            py::setattr(value, "__reduce_ex__",
                        py::cpp_function(reduce_ex, py::name("__reduce_ex__"), py::is_method(value)));
        }
    }
}

}  // namespace

PYBIND11_MODULE(_core, m) {
    m.doc() = "The C++ core of halidegym.";
    register_errors(m);
    using namespace halidegym;
    bind_native_work();
    bind_problem(m);
    bind_halide_problem(m);
    bind_halide_expression(m);
    bind_nest(m);
    bind_cost(m);
    bind_state(m);
    bind_search_spaces(m);
    bind_transform_plan(m);
    bind_transform(m);
    bind_transform_view(m);
    bind_transform_stopwatch(m);
    bind_search(m);
    bind_search_mb2fbs(m);
    bind_search_mcts(m);
    bind_search_tag(m);
    bind_search_parts(m);
    bind_observation(m);
    bind_policy(m);
    bind_search_guided(m);
    bind_env(m);
    bind_env_vector(m);
    bind_halide_schedule(m);
    pickle_by_all_protocols(m);
}
