#include "transform/measurement/stopwatch.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <complex>
#include <string>
#include <vector>

#include "bindings/array_argument.h"
#include "bindings/native_work.h"
#include "bindings/topics.h"
#include "problem/error.h"
#include "transform/text.h"

namespace py = pybind11;

namespace halidegym {

namespace {

using ComplexNumbers = ArrayArgument<std::complex<double>, py::array::forcecast>;

std::span<const double> parts_of(const ComplexNumbers &numbers) {
    return {reinterpret_cast<const double *>(numbers.data()), 2 * static_cast<size_t>(numbers.size())};
}

void check_sampling(int rounds, double sample_s) {
    if (rounds < 1 || !(sample_s > 0 && sample_s < 3600)) {
        throw InvalidParameter("rounds must be at least 1, and sample_s positive and below an hour");
    }
}

std::vector<TransformTiming> time_plans(TransformStopwatch &self, const std::vector<std::string> &plans, int rounds,
                                        double sample_s, double tolerance) {
    check_sampling(rounds, sample_s);
    const UnlockedWork work;
    std::vector<TransformTiming> timings;
    for (const std::string &text : plans) {
        timings.push_back(self.time(TransformPlan(self.n(), text), rounds, sample_s, tolerance));
        NativeWork::check_exit();
    }
    return timings;
}

TurnTimes take_turns(TransformStopwatch &self, const std::vector<std::string> &plans, int rounds, double sample_s) {
    check_sampling(rounds, sample_s);
    const UnlockedWork work;
    std::vector<TransformPlan> parsed;
    for (const std::string &text : plans) {
        parsed.emplace_back(self.n(), text);
    }
    return self.take_turns(parsed, rounds, sample_s);
}

// A sub-plan of the same plan says which problem is meant, so that no caller makes up strides.
TurnTimes take_turns_at(TransformStopwatch &self, const TransformProblem &problem, const std::vector<std::string> &ways,
                        int rounds, double sample_s) {
    check_sampling(rounds, sample_s);
    const UnlockedWork work;
    std::vector<PlanNodeRef> parsed;
    for (const std::string &text : ways) {
        parsed.push_back(parse_plan(problem, text));
    }
    return self.take_turns(problem, parsed, rounds, sample_s);
}

}  // namespace

void bind_transform_stopwatch(py::module_ &m) {
    py::class_<TransformTiming>(m, "TransformTiming", "How long a plan and the reference take, in turns.")
        .def_readonly("samples_s", &TransformTiming::samples_s)
        .def_readonly("reference_samples_s", &TransformTiming::reference_samples_s)
        .def_readonly("relative_error", &TransformTiming::relative_error)
        .def_readonly("executed_s", &TransformTiming::executed_s);
    py::class_<TransformStopwatch>(m, "TransformStopwatch", "Times plans of one size in turns with a reference.")
        .def(py::init(
                 [](int n, const std::string &reference, const ComplexNumbers &input, const ComplexNumbers &expected) {
                     return std::make_unique<TransformStopwatch>(TransformPlan(n, reference), parts_of(input),
                                                                 parts_of(expected));
                 }),
             py::arg("n"), py::arg("reference"), py::arg("values"), py::arg("expected"))
        .def_property_readonly("reference_s", &TransformStopwatch::reference_s)
        .def(
            "error_of",
            [](TransformStopwatch &self, const std::string &plan) {
                return self.error_of(TransformPlan(self.n(), plan));
            },
            py::arg("plan"))
        .def("time", &time_plans, py::arg("plans"), py::kw_only(), py::arg("turns"), py::arg("sample_s"),
             py::arg("tolerance"))
        .def("take_turns", &take_turns, py::arg("plans"), py::kw_only(), py::arg("rounds"), py::arg("sample_s"))
        .def("take_turns_at", &take_turns_at, py::arg("problem"), py::arg("ways"), py::kw_only(), py::arg("rounds"),
             py::arg("sample_s"));
}

}  // namespace halidegym
