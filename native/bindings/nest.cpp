#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings/topics.h"
#include "nest/directives.h"
#include "nest/dump.h"
#include "nest/reserved_words.h"
#include "nest/schedule_text.h"
#include "problem/error.h"
#include "problem/problem.h"

namespace py = pybind11;

namespace halidegym {

namespace {

py::tuple to_tuple(const LoopVariable &variable) {
    return py::make_tuple(variable.loop, variable.splits);
}

LoopVariable loop_variable(const py::handle &state) {
    const auto [loop, splits] = state.cast<std::pair<int, int>>();
    return {.loop = loop, .splits = splits};
}

py::tuple to_tuple(const std::vector<LoopVariable> &variables) {
    py::list result;
    for (const LoopVariable &variable : variables) {
        result.append(to_tuple(variable));
    }
    return py::tuple(result);
}

std::vector<LoopVariable> loop_variables(const py::handle &state) {
    std::vector<LoopVariable> result;
    for (const py::handle variable : state) {
        result.push_back(loop_variable(variable));
    }
    return result;
}

py::tuple to_tuple(const Directive &directive) {
    const LoopPosition &position = directive.position;
    const py::object variable = position.variable ? py::object(to_tuple(*position.variable)) : py::none();
    return py::make_tuple(static_cast<int>(directive.kind), to_tuple(directive.loops), directive.dimensions,
                          directive.factor, static_cast<int>(directive.tail), position.stage, variable);
}

template <typename Enum>
Enum choice(const py::object &number, Enum last) {
    const int value = number.cast<int>();
    if (value < 0 || value > static_cast<int>(last)) {
        throw FormatError("These are no pickled StageDirectives: they have the number " + std::to_string(value) +
                          " where those up to " + std::to_string(static_cast<int>(last)) +
                          " mean something. Pickle them again.");
    }
    return static_cast<Enum>(value);
}

Directive directive(const py::tuple &state) {
    Directive result;
    result.kind = choice(state[0], Directive::Kind::ReorderStorage);
    result.loops = loop_variables(state[1]);
    result.dimensions = state[2].cast<std::vector<int>>();
    result.factor = state[3].cast<int64_t>();
    result.tail = choice(state[4], TailStrategy::ShiftInwards);
    result.position.stage = state[5].cast<int>();
    if (!state[6].is_none()) {
        result.position.variable = loop_variable(state[6]);
    }
    return result;
}

py::tuple to_tuple(const StageDirectives &scheduled) {
    py::list calls;
    for (const Directive &directive : scheduled.directives) {
        calls.append(to_tuple(directive));
    }
    return py::make_tuple(scheduled.stage, to_tuple(scheduled.loops), py::tuple(calls));
}

StageDirectives stage_directives(const py::tuple &state) {
    StageDirectives result{.stage = state[0].cast<int>(), .loops = loop_variables(state[1])};
    for (const py::handle call : state[2]) {
        result.directives.push_back(directive(call.cast<py::tuple>()));
    }
    return result;
}

void bind_directives(py::module_ &m) {
    const auto pickled = [](const StageDirectives &scheduled) { return to_tuple(scheduled); };
    py::class_<StageDirectives>(m, "StageDirectives",
                                "The scheduling calls on one stage, in order, as plain data; immutable and picklable.")
        .def_readonly("stage", &StageDirectives::stage, "Id of the stage.")
        .def("__len__", [](const StageDirectives &scheduled) { return scheduled.directives.size(); })
        .def("__repr__",
             [](const StageDirectives &scheduled) {
                 return py::str("StageDirectives(stage {}, {} calls)")
                     .format(scheduled.stage, scheduled.directives.size());
             })
        .def(
            "__eq__", [](const StageDirectives &a, const StageDirectives &b) { return a == b; }, py::is_operator())
        .def("__hash__", [pickled](const StageDirectives &scheduled) { return py::hash(py::str(pickled(scheduled))); })
        .def(py::pickle(pickled, &stage_directives));
    m.def("is_reserved", &is_reserved, py::arg("word"),
          "Whether nothing can be called so in the source of a schedule, in C++ or in Python.");
    m.def(
        "schedule_source",
        [](const Problem &problem, const std::vector<StageDirectives> &stages) {
            return schedule_source(problem, stages);
        },
        py::arg("problem"), py::arg("stages"), "The calls as C++ source, as the Adams2019 autoscheduler prints it.");
    m.def(
        "cpp_statements",
        [](const Problem &problem, const std::vector<StageDirectives> &stages) {
            return cpp_statements(problem, stages);
        },
        py::arg("problem"), py::arg("stages"),
        "The calls as C++ statements on a Halide::Pipeline named `pipeline`, with names that are identifiers.");
    m.def(
        "python_source",
        [](const Problem &problem, const std::vector<StageDirectives> &stages) {
            return python_source(problem, stages);
        },
        py::arg("problem"), py::arg("stages"), "The calls as Python statements on an hl.Pipeline named `pipeline`.");
}

void bind_dump(py::module_ &m) {
    py::class_<PrintedLevel::Size>(m, "LoopSize", "Trip count of one loop of a level.")
        .def_readonly("count", &PrintedLevel::Size::count)
        .def_readonly("constant", &PrintedLevel::Size::constant, "Whether the range it covers has a constant extent.")
        .def(
            "__eq__", [](const PrintedLevel::Size &a, const PrintedLevel::Size &b) { return a == b; },
            py::is_operator());
    py::class_<PrintedLevel>(m, "LoopNest", "A loop level, or the whole nest, as its text shows it; immutable.")
        .def_static("parse", &parse_nest, py::arg("text"),
                    "The nest that `text` shows; str() gives the text back, after an empty line. Raises FormatError, "
                    "which names the line.")
        .def("__str__", [](const PrintedLevel &level) { return dump(level); })
        .def_readonly("func", &PrintedLevel::func, "Name of the Func; empty at the root.")
        .def_readonly("stage", &PrintedLevel::stage, "Index of the stage within its Func.")
        .def_readonly("sizes", &PrintedLevel::sizes, "One LoopSize per loop, innermost first.")
        .def_readonly("vectorized_loop", &PrintedLevel::vectorized_loop, "Index of the loop, -1 if none.")
        .def_readonly("vector_dim", &PrintedLevel::vector_dim, "Index of the pure argument, -1 at the root.")
        .def_readonly("tileable", &PrintedLevel::tileable)
        .def_readonly("innermost", &PrintedLevel::innermost)
        .def_readonly("parallel", &PrintedLevel::parallel)
        .def_readonly("store_at", &PrintedLevel::store_at, "Names of the Funcs stored in the body.")
        .def_readonly("children", &PrintedLevel::children, "Levels in the body, in reverse of the printed order.")
        .def_readonly("inlined", &PrintedLevel::inlined, "Funcs inlined in the body, with their numbers of calls.")
        .def("__eq__", [](const PrintedLevel &a, const PrintedLevel &b) { return a == b; }, py::is_operator());
}

}  // namespace

void bind_nest(py::module_ &m) {
    bind_directives(m);
    bind_dump(m);
}

}  // namespace halidegym
