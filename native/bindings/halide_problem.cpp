#include <Halide.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/conduit.h"
#include "bindings/topics.h"
#include "halide/algorithm_identity.h"
#include "halide/extract.h"
#include "halide/input_estimates.h"
#include "halide/parameters.h"
#include "halide/target.h"

namespace py = pybind11;

namespace halidegym {

// Halide may print warnings through Python, so none of these functions releases the interpreter lock.
void bind_halide_problem(py::module_ &m) {
    py::class_<ParameterData>(
        m, "ParameterData",
        "What a serialized pipeline loses of a Param or ImageParam, as plain data.\n\n"
        "`values` maps \"estimate\", \"min\", \"max\", \"default\", \"value\" (scalars) or \"min.d\", "
        "\"extent.d\", \"stride.d\", \"min_estimate.d\", \"extent_estimate.d\" (buffers, per dimension d) "
        "to (Halide type, number).")
        .def(py::init([](std::string name, std::string type, bool is_buffer, int dimensions, int host_alignment,
                         std::map<std::string, TypedConstant> values) {
                 return ParameterData{std::move(name), std::move(type), is_buffer,
                                      dimensions,      host_alignment,  std::move(values)};
             }),
             py::kw_only(), py::arg("name"), py::arg("type"), py::arg("is_buffer"), py::arg("dimensions"),
             py::arg("host_alignment"), py::arg("values"))
        .def_readonly("name", &ParameterData::name)
        .def_readonly("type", &ParameterData::type)
        .def_readonly("is_buffer", &ParameterData::is_buffer)
        .def_readonly("dimensions", &ParameterData::dimensions)
        .def_readonly("host_alignment", &ParameterData::host_alignment, "Bytes; buffers only.")
        .def_readonly("values", &ParameterData::values);

    m.def(
        "read_parameter",
        [](py::handle parameter) { return read_parameter(from_halide<Halide::Parameter>(parameter)); },
        py::arg("parameter"),
        "Everything that has been set on a `halide.Parameter`.\n\n"
        "Raises UnsupportedPipeline if a constraint is no constant.");
    m.def(
        "write_parameter",
        [](py::handle parameter, const ParameterData &data) {
            write_parameter(from_halide<Halide::Parameter>(parameter), data);
        },
        py::arg("parameter"), py::arg("data"), "Sets everything in `data` on a `halide.Parameter` of the same type.");
    m.def(
        "resolve_target", [](const std::string &target) { return known_target(target).to_string(); }, py::arg("target"),
        "The Halide target string that a target stands for, its features in Halide's order.\n\n"
        "\"host\" is this machine, less the instructions that Halide takes its processor to have and it has not.\n\n"
        "Raises InvalidParameter.");
    m.def(
        "extract_problem",
        [](const py::bytes &pipeline, const std::vector<ParameterData> &parameters, const std::string &target,
           int parallelism, std::string name) {
            return extract_problem(restore_pipeline(std::string_view(pipeline), parameters), target, parallelism,
                                   std::move(name));
        },
        py::arg("pipeline"), py::arg("parameters"), py::arg("target"), py::arg("parallelism"), py::arg("name"),
        "The scheduling problem of a serialized pipeline with these parameters, as plain data.\n\n"
        "Raises InvalidParameter, MissingEstimate or UnsupportedPipeline.");
    py::class_<Undersized>(m, "Undersized",
                           "A dimension of an input, or of an output that Funcs read, of which more is read than its "
                           "estimate provides.")
        .def_readonly("name", &Undersized::name)
        .def_readonly("is_output", &Undersized::is_output)
        .def_readonly("dimension", &Undersized::dimension)
        .def_readonly("read", &Undersized::read)
        .def_readonly("provided", &Undersized::provided);
    m.def(
        "undersized_inputs",
        [](const Problem &problem, const py::object &pipeline) {
            return undersized_inputs(problem, from_halide<Halide::Pipeline>(pipeline));
        },
        py::arg("problem"), py::arg("pipeline"),
        "Where the problem's own hl.Pipeline reads more than estimates provide.");
    m.def(
        "algorithm_identity",
        [](const py::object &pipeline) {
            return py::bytes(algorithm_identity(from_halide<Halide::Pipeline>(pipeline)));
        },
        py::arg("pipeline"),
        "What an hl.Pipeline computes, as bytes in which no name counts; the same in every process.");
    m.def("with_parallelism", &with_parallelism, py::arg("problem"), py::arg("parallelism"),
          "The same problem for a machine of another number of cores. Raises InvalidParameter if that is below 1.");
}

}  // namespace halidegym
