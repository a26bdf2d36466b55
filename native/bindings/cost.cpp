#include <pybind11/native_enum.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bindings/array_argument.h"
#include "bindings/native_work.h"
#include "bindings/values.h"
#include "cost/network.h"
#include "cost/weights.h"
#include "problem/error.h"

namespace py = pybind11;

namespace halidegym {

namespace {

template <typename T>
using Array = ArrayArgument<T, py::array::forcecast>;

template <size_t size>
py::array tensor(const std::array<float, size> &values, std::vector<py::ssize_t> shape) {
    return py::array_t<float>(std::move(shape), values.data());
}

py::dict tensors(const Weights &weights) {
    py::dict result;
    result["head1_filter"] = tensor(weights.head1_filter, {num_scalar_types, num_operations, head1_channels});
    result["head1_bias"] = tensor(weights.head1_bias, {head1_channels});
    result["head2_filter"] = tensor(weights.head2_filter, {num_schedule_features, head2_channels});
    result["head2_bias"] = tensor(weights.head2_bias, {head2_channels});
    result["conv1_filter"] = tensor(weights.conv1_filter, {num_coefficients, num_coefficients});
    result["conv1_bias"] = tensor(weights.conv1_bias, {num_coefficients});
    return result;
}

py::array_t<float> predict(const Network &network, const Array<float> &pipeline_features,
                           const Array<double> &schedule_features, int parallelism) {
    const auto &p = pipeline_features;
    const auto &f = schedule_features;
    const bool is_pipeline = p.ndim() == 3 && p.shape(1) == num_scalar_types && p.shape(2) == num_operations;
    const bool is_schedule = (f.ndim() == 2 || f.ndim() == 3) && f.shape(f.ndim() - 1) == num_schedule_features;
    if (!is_pipeline || !is_schedule || p.shape(0) != f.shape(f.ndim() - 2)) {
        throw InvalidParameter(
            "The shapes " + std::string(py::str(p.attr("shape"))) + " of pipeline_features and " +
            std::string(py::str(f.attr("shape"))) +
            " of schedule_features do not fit; give [S, 7, 40] and [S, 39] or [B, S, 39] with the same S.");
    }
    const int num_stages = static_cast<int>(p.shape(0));
    const int num_states = f.ndim() == 3 ? static_cast<int>(f.shape(0)) : 1;
    std::vector<float> costs;
    {
        const UnlockedWork work;
        costs = network.predict(elements(p), elements(f), num_states, num_stages, parallelism);
    }
    return py::array_t<float>(static_cast<py::ssize_t>(costs.size()), costs.data());
}

}  // namespace

void bind_cost(py::module_ &m) {
    const auto from_bytes = [](const py::bytes &bytes, const std::string &origin) {
        return parse_weights(std::string_view(bytes), origin);
    };
    const auto to_bytes = [](const Weights &weights) { return py::bytes(serialize_weights(weights)); };

    py::class_<Weights> weights(m, "Weights", "The six tensors of the Adams2019 cost model.");
    weights
        .def_static(
            "from_bytes", from_bytes, py::arg("data"), py::arg("origin") = "bytes",
            "Parse the bytes of a .weights file; raises FormatError, naming `origin`, if they are anything else.")
        .def("to_bytes", to_bytes, "The bytes of a .weights file.")
        .def("tensors", tensors, "Copies of the tensors by name, float32, the output channel last.")
        .def("__repr__",  // as fingerprints tell them apart, so that an agent's repr is the same in every process
             [to_bytes](const Weights &weights) {
                 const py::object digest = py::module_::import("hashlib").attr("sha256")(to_bytes(weights));
                 return py::str("Weights({:.12})").format(digest.attr("hexdigest")());
             })
        .def(
            "__eq__", [](const Weights &a, const Weights &b) { return a == b; }, py::is_operator())
        .def("__hash__", [](const Weights &weights) { return std::hash<std::string>()(serialize_weights(weights)); })
        .def(py::pickle(to_bytes,
                        [](const py::bytes &bytes) { return parse_weights(std::string_view(bytes), "a pickle"); }));
    def_copies(weights);

    py::native_enum<InstructionSet>(m, "InstructionSet", "enum.Enum",
                                    "What the inner loops of the cost model are compiled for.")
        .value("Baseline", InstructionSet::Baseline)
        .value("Avx2", InstructionSet::Avx2)
        .value("Avx512", InstructionSet::Avx512)
        .finalize();
    m.def("available_instruction_sets", available_instruction_sets, "Those of this machine, ascending.");

    py::class_<Network, std::shared_ptr<Network>>(m, "Network", "Inference with the Adams2019 cost model.")
        .def(py::init<const Weights &>(), py::arg("weights"))
        .def(py::init<const Weights &, InstructionSet>(), py::arg("weights"), py::arg("instruction_set"))
        .def(
            "predict", predict, py::arg("pipeline_features"), py::arg("schedule_features"), py::arg("parallelism"),
            "Costs [B] of B states with S stages each: float32, milliseconds as trained, equal to the reference bit\n"
            "for bit. pipeline_features is [S, 7, 40], schedule_features [B, S, 39] or [S, 39]; stages in the model's\n"
            "order.");
}

}  // namespace halidegym
