#include "transform/plan.h"

#include <pybind11/numpy.h>
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "bindings/native_work.h"
#include "bindings/topics.h"
#include "bindings/values.h"
#include "problem/error.h"
#include "transform/execution/executable_plan.h"
#include "transform/kernels.h"

namespace py = pybind11;

namespace halidegym {

namespace {

using Numbers = std::complex<double>;
using ComplexArray = py::array_t<Numbers>;

// A plan, which is made executable when it is first run.
class BoundTransformPlan {
public:
    BoundTransformPlan(int n, const std::string &text) : plan_(n, text) {}

    const TransformPlan &plan() const { return plan_; }

    void run(const double *in, double *out) {
        const std::lock_guard lock(mutex_);
        if (!executable_) {
            executable_.emplace(plan_, TwiddleRoots(plan_.n()));
        }
        executable_->run(in, out);
    }

private:
    TransformPlan plan_;
    std::mutex mutex_;  // the executable is for one thread at a time
    std::optional<ExecutablePlan> executable_;
};

struct TransformStepUse {
    std::string step;
    TransformProblem problem;
    int64_t runs;
    int level;
};

std::vector<TransformStepUse> uses_of(const TransformPlan &plan) {
    std::vector<TransformStepUse> uses;
    plan.visit([&](const PlanNode &node, const SubProblem &sub, int64_t runs, int level) {
        uses.push_back({to_string(node.step), sub.problem, runs, level});
    });
    return uses;
}

// An array that a plan of size n can work on as it is.
ComplexArray checked_array(const py::object &object, const char *name, int n) {
    const std::string wanted =
        "; give a contiguous one-dimensional NumPy array of " + std::to_string(n) + " elements of type complex128";
    if (!py::isinstance<py::array>(object)) {
        throw InvalidParameter(std::string(name) + " is no array, but a " +
                               std::string(py::str(py::type::of(object).attr("__name__"))) + wanted);
    }
    const auto array = py::reinterpret_borrow<py::array>(object);
    const auto refuse = [&](const std::string &why) { throw InvalidParameter(std::string(name) + why + wanted); };
    if (!py::isinstance<ComplexArray>(object)) {
        refuse(" has elements of type " + std::string(py::str(array.dtype())));
    }
    if (array.ndim() != 1 || array.shape(0) != n) {
        refuse(" has the shape " + std::string(py::str(array.attr("shape"))));
    }
    if (!(array.flags() & py::array::c_style) || reinterpret_cast<uintptr_t>(array.data()) % alignof(double) != 0) {
        refuse(" is not contiguous");
    }
    return py::reinterpret_borrow<ComplexArray>(object);
}

// Each begins at a page, so that no vector register straddles two cache lines.
ComplexArray new_output(int n) {
    auto memory = std::make_unique<AlignedMemory>(2 * static_cast<size_t>(n));
    auto *data = reinterpret_cast<Numbers *>(memory->data());
    const py::capsule owner(memory.release(), [](void *owned) { delete static_cast<AlignedMemory *>(owned); });
    return ComplexArray(n, data, owner);
}

py::object run(BoundTransformPlan &self, const py::object &x, const py::object &out) {
    const int n = self.plan().n();
    const ComplexArray input = checked_array(x, "x", n);
    ComplexArray output = out.is_none() ? new_output(n) : checked_array(out, "out", n);
    if (!output.writeable()) {
        throw InvalidParameter("out is read-only; give an array that can be written to");
    }
    const Numbers *from = input.data();
    Numbers *to = output.mutable_data();
    if (from < to + n && to < from + n) {
        throw InvalidParameter("out overlaps x; give an array of its own");
    }
    {
        const UnlockedWork work;
        self.run(reinterpret_cast<const double *>(from), reinterpret_cast<double *>(to));
    }
    return output;
}

py::tuple members(const TransformProblem &p) {
    return py::make_tuple(p.n, p.is, p.os, p.v, p.iv, p.ov, p.scaled, p.ws, p.wv, p.in_place, p.below_loop);
}

// Whether columns stay within the arrays of the largest transform.
bool is_within_arrays(const TransformProblem &p, int along, int across) {
    return along >= 0 && across >= 0 &&
           int64_t{p.n - 1} * along + int64_t{p.v - 1} * across < int64_t{max_transform_size};
}

TransformProblem from_members(const py::tuple &of) {
    if (of.size() != 11) {
        throw FormatError("This is no pickled TransformProblem; pickle it again.");
    }
    const auto number = [&](size_t i) { return of[i].cast<int>(); };
    const auto flag = [&](size_t i) { return of[i].cast<bool>(); };
    const TransformProblem p{number(0), number(1), number(2), number(3), number(4), number(5),
                             flag(6),   number(7), number(8), flag(9),   flag(10)};
    if (p.n < 2 || p.v < 1 || !is_within_arrays(p, p.is, p.iv) || !is_within_arrays(p, p.os, p.ov) ||
        !is_within_arrays(p, p.ws, p.wv)) {
        throw FormatError("A pickled TransformProblem is damaged: " + to_string(p) + ". Pickle it again.");
    }
    return p;
}

void bind_transform_problem(py::module_ &m) {
    py::class_<TransformProblem> problem(m, "TransformProblem",
                                         "What one step of a transform has to compute; an immutable value.");
    problem.def_readonly("n", &TransformProblem::n)
        .def_readonly("input_stride", &TransformProblem::is)
        .def_readonly("output_stride", &TransformProblem::os)
        .def_readonly("columns", &TransformProblem::v)
        .def_readonly("input_column_stride", &TransformProblem::iv)
        .def_readonly("output_column_stride", &TransformProblem::ov)
        .def_readonly("is_scaled", &TransformProblem::scaled)
        .def_readonly("twiddle_stride", &TransformProblem::ws)
        .def_readonly("twiddle_column_stride", &TransformProblem::wv)
        .def_readonly("is_in_place", &TransformProblem::in_place)
        .def_readonly("is_below_loop", &TransformProblem::below_loop)
        .def(py::self == py::self)
        .def(py::pickle(&members, &from_members))
        .def("__str__", [](const TransformProblem &self) { return to_string(self); })
        .def("__hash__", [](const TransformProblem &self) { return std::hash<std::string>()(to_string(self)); });
    def_copies(problem);
}

}  // namespace

void bind_transform_plan(py::module_ &m) {
    bind_transform_problem(m);
    py::class_<TransformStepUse>(m, "TransformStepUse", "A step of a plan where it stands.")
        .def_readonly("step", &TransformStepUse::step)
        .def_readonly("problem", &TransformStepUse::problem)
        .def_readonly("runs", &TransformStepUse::runs)
        .def_readonly("level", &TransformStepUse::level);
    py::class_<BoundTransformPlan>(m, "TransformPlan", "How a transform of a size is computed; an immutable value.")
        .def(py::init<int, std::string>(), py::arg("n"), py::arg("text"))
        .def_property_readonly("n", [](const BoundTransformPlan &self) { return self.plan().n(); })
        .def_property_readonly("text", [](const BoundTransformPlan &self) { return self.plan().text(); })
        .def_property_readonly("flops", [](const BoundTransformPlan &self) { return self.plan().flops(); })
        .def("problems", [](const BoundTransformPlan &self) { return uses_of(self.plan()); })
        .def("run", &run, py::arg("x"), py::arg("out") = py::none());
    m.def("available_lanes", &available_lanes, "Complex numbers in a vector register, as this machine has them.");
}

}  // namespace halidegym
