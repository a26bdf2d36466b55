#include <Halide.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <vector>

#include "bindings/conduit.h"
#include "bindings/topics.h"
#include "halide/apply_schedule.h"
#include "problem/problem.h"

namespace py = pybind11;

namespace halidegym {

void bind_halide_schedule(py::module_ &m) {
    m.def(
        "apply_schedule",
        [](const Problem &problem, const std::vector<StageDirectives> &stages, const py::object &original,
           const py::object &pipeline) {
            apply_schedule(problem, stages, from_halide<Halide::Pipeline>(original),
                           from_halide<Halide::Pipeline>(pipeline));
        },
        py::arg("problem"), py::arg("stages"), py::arg("original"), py::arg("pipeline"),
        "Make the scheduling calls on an unscheduled hl.Pipeline: the problem's own or one built in the same way. "
        "Raises InvalidParameter if it is a different pipeline, CompileError if Halide refuses a call.");
}

}  // namespace halidegym
