#include "problem/problem.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/topics.h"
#include "bindings/values.h"
#include "problem/serialize.h"

namespace py = pybind11;

namespace halidegym {

namespace {

const char *name_of(EdgeBound::Kind kind) {
    switch (kind) {
    case EdgeBound::Kind::Constant:
        return "constant";
    case EdgeBound::Kind::Affine:
        return "affine";
    default:
        return "general";
    }
}

const char *name_of(Loop::Kind kind) {
    switch (kind) {
    case Loop::Kind::ComputedDimension:
        return "computed_dimension";
    case Loop::Kind::Constant:
        return "constant";
    default:
        return "general";
    }
}

const char *name_of(ComputedDimension::Kind kind) {
    switch (kind) {
    case ComputedDimension::Kind::EqualsRequired:
        return "equals_required";
    case ComputedDimension::Kind::UnionWithConstants:
        return "union_with_constants";
    default:
        return "general";
    }
}

// The `kind` of an object as text.
template <typename T>
void def_kind(py::class_<T> &type) {
    type.def_property_readonly("kind", [](const T &object) { return name_of(object.kind); });
}

// Shares the stage's memory.
py::array features_of(py::object stage) {
    const auto &features = stage.cast<const Stage &>().features;
    py::array_t<int32_t> array(static_cast<py::ssize_t>(features.size()), features.data(), stage);
    array.attr("flags").attr("writeable") = false;
    return array;
}

std::vector<int> upstream_nodes(const Stage &stage) {
    std::vector<int> nodes;
    for (int node = 0; node < static_cast<int>(64 * stage.upstream.size()); ++node) {
        if (stage.is_downstream_of(node)) {
            nodes.push_back(node);
        }
    }
    return nodes;
}

void bind_parts(py::module_ &m) {
    py::class_<Span>(m, "Span", "An inclusive integer interval.")
        .def_readonly("min", &Span::min)
        .def_readonly("max", &Span::max)
        .def_readonly("constant_extent", &Span::constant_extent, "Whether the extent is believed to be constant.")
        .def_property_readonly("extent", &Span::extent)
        .def(
            "__eq__", [](const Span &a, const Span &b) { return a == b; }, py::is_operator())
        .def("__repr__", [](const Span &s) {
            return py::str("Span({}, {}{})").format(s.min, s.max, s.constant_extent ? ", constant_extent" : "");
        });

    py::class_<Rational>(m, "Rational", "An entry of a load Jacobian; a value that is not known keeps its numbers.")
        .def_readonly("known", &Rational::known)
        .def_readonly("numerator", &Rational::numerator)
        .def_readonly("denominator", &Rational::denominator)
        .def("__repr__", [](const Rational &r) {
            return py::str(r.known ? "Rational({}, {})" : "Rational({}, {}, unknown)")
                .format(r.numerator, r.denominator);
        });

    py::class_<Expression>(m, "Expression", "A bounds expression over int32 symbols.")
        .def_property_readonly("is_portable", &Expression::is_portable, "False if only Halide can evaluate it.")
        .def_property_readonly("num_symbols", &Expression::num_symbols)
        .def_property_readonly("num_instructions", [](const Expression &e) { return e.code().size(); })
        .def(
            "evaluate", [](const Expression &e, const std::vector<int64_t> &symbols) { return e.evaluate(symbols); },
            py::arg("symbols"), "The value, each symbol truncated to 32 bits. Raises InternalError if there is none.")
        .def(
            "__eq__", [](const Expression &a, const Expression &b) { return a == b; }, py::is_operator())
        .def("__repr__", [](const Expression &e) {
            return e.is_portable()
                       ? py::str("Expression({} instructions, {} symbols)").format(e.code().size(), e.num_symbols())
                       : py::str("Expression({!r}, not portable)").format(e.text());
        });

    py::class_<EdgeBound> edge_bound(m, "EdgeBound",
                                     "One side of one dimension of the region an edge's consumer needs.");
    def_kind(edge_bound);
    edge_bound.def_readonly("depends_on_parameter", &EdgeBound::depends_on_parameter)
        .def_readonly("of_max", &EdgeBound::of_max)
        .def_readonly("loop", &EdgeBound::loop)
        .def_readonly("coefficient", &EdgeBound::coefficient)
        .def_readonly("constant", &EdgeBound::constant)
        .def_readonly("expression", &EdgeBound::expression)
        .def("__repr__", [](const EdgeBound &b) {
            switch (b.kind) {
            case EdgeBound::Kind::Constant:
                return py::str("EdgeBound({})").format(b.constant);
            case EdgeBound::Kind::Affine:
                return py::str("EdgeBound({} * loop[{}].{} + {})")
                    .format(b.coefficient, b.loop, b.of_max ? "max" : "min", b.constant);
            default:
                return py::str("EdgeBound(expression {})").format(b.expression);
            }
        });

    py::class_<LoadJacobian>(m, "LoadJacobian", "How the loads of an edge move with the consumer's loops.")
        .def_readonly("rows", &LoadJacobian::rows)
        .def_readonly("columns", &LoadJacobian::columns)
        .def_readonly("count", &LoadJacobian::count)
        .def_readonly("entries", &LoadJacobian::entries, "Row-major.")
        .def("__repr__", [](const LoadJacobian &j) {
            return py::str("LoadJacobian({} x {}, count {})").format(j.rows, j.columns, j.count);
        });

    py::class_<ComputedDimension> dimension(m, "ComputedDimension", "What a Func computes of a required dimension.");
    def_kind(dimension);
    dimension.def_readonly("constant_min", &ComputedDimension::constant_min)
        .def_readonly("constant_max", &ComputedDimension::constant_max)
        .def_readonly("expression_min", &ComputedDimension::expression_min)
        .def_readonly("expression_max", &ComputedDimension::expression_max)
        .def("__repr__",
             [](const ComputedDimension &d) { return py::str("ComputedDimension({!r})").format(name_of(d.kind)); });

    py::class_<Loop> loop(m, "Loop", "One loop of a stage.");
    def_kind(loop);
    loop.def_readonly("variable", &Loop::variable)
        .def_readonly("accessor", &Loop::accessor, "Source fragment that names the variable.")
        .def_readonly("pure", &Loop::pure)
        .def_readonly("rvar", &Loop::rvar)
        .def_readonly("pure_dim", &Loop::pure_dim, "Index among the Func's pure arguments, or -1.")
        .def_readonly("computed_dim", &Loop::computed_dim)
        .def_readonly("constant_min", &Loop::constant_min)
        .def_readonly("constant_max", &Loop::constant_max)
        .def_readonly("expression_min", &Loop::expression_min)
        .def_readonly("expression_max", &Loop::expression_max)
        .def("__repr__", [](const Loop &l) { return py::str("Loop({!r}, {!r})").format(l.variable, name_of(l.kind)); });
}

void bind_graph(py::module_ &m) {
    py::class_<Edge>(m, "Edge", "The loads of one Func by one stage.")
        .def_readonly("id", &Edge::id)
        .def_readonly("producer", &Edge::producer, "Node id.")
        .def_readonly("consumer_stage", &Edge::consumer_stage, "Stage id.")
        .def_readonly("calls", &Edge::calls)
        .def_readonly("bounds", &Edge::bounds, "Min and max of each dimension of the producer.")
        .def_readonly("jacobians", &Edge::jacobians)
        .def("__repr__", [](const Edge &e) {
            return py::str("Edge({}: node {} -> stage {})").format(e.id, e.producer, e.consumer_stage);
        });

    py::class_<Stage>(m, "Stage", "A definition of a Func: index 0 is the pure one, the others its updates.")
        .def_readonly("id", &Stage::id)
        .def_readonly("node", &Stage::node, "Node id.")
        .def_readonly("index", &Stage::index)
        .def_readonly("name", &Stage::name)
        .def_readonly("vector_size", &Stage::vector_size, "Lanes.")
        .def_readonly("loops", &Stage::loops, "Innermost first.")
        .def_readonly("incoming", &Stage::incoming, "Edge ids.")
        .def_readonly("reads_image", &Stage::reads_image)
        .def_property_readonly("upstream", &upstream_nodes, "Ids of its direct and transitive producers, ascending.")
        .def_property_readonly("features", &features_of, "Algorithm features, read-only int32[287].")
        .def("__repr__", [](const Stage &s) { return py::str("Stage({}: {!r})").format(s.id, s.name); });

    py::class_<Node>(m, "Node", "A Func.")
        .def_readonly("id", &Node::id)
        .def_readonly("name", &Node::name)
        .def_readonly("dimensions", &Node::dimensions)
        .def_readonly("args", &Node::args)
        .def_readonly("bytes_per_point", &Node::bytes_per_point)
        .def_readonly("vector_size", &Node::vector_size, "Lanes.")
        .def_readonly("is_wrapper", &Node::is_wrapper)
        .def_readonly("is_input", &Node::is_input)
        .def_readonly("is_output", &Node::is_output)
        .def_readonly("is_pointwise", &Node::is_pointwise)
        .def_readonly("is_boundary_condition", &Node::is_boundary_condition)
        .def_readonly("is_extern", &Node::is_extern)
        .def_readonly("first_stage", &Node::first_stage, "Stage id.")
        .def_readonly("num_stages", &Node::num_stages)
        .def_readonly("region_computed", &Node::region_computed)
        .def_readonly("estimated_region", &Node::estimated_region, "Of an output; else empty.")
        .def_readonly("unit_stride_dimensions", &Node::unit_stride_dimensions)
        .def_readonly("outgoing", &Node::outgoing, "Edge ids.")
        .def("__repr__", [](const Node &n) { return py::str("Node({}: {!r})").format(n.id, n.name); });
}

}  // namespace

void bind_problem(py::module_ &m) {
    bind_parts(m);
    bind_graph(m);
    py::class_<Problem, std::shared_ptr<Problem>> problem(m, "Problem",
                                                          "A scheduling problem as plain data; immutable.");
    problem.def_readonly("name", &Problem::name)
        .def_readonly("target", &Problem::target)
        .def_readonly("halide_version", &Problem::halide_version)
        .def_readonly("parallelism", &Problem::parallelism, "Cores.")
        .def_readonly("nodes", &Problem::nodes, "Consumers before producers.")
        .def_readonly("stages", &Problem::stages)
        .def_readonly("edges", &Problem::edges)
        .def_readonly("expressions", &Problem::expressions)
        .def_property_readonly("num_nodes", &Problem::num_nodes)
        .def_property_readonly("num_stages", &Problem::num_stages)
        .def_property_readonly("is_portable", &Problem::is_portable, "False if an expression needs Halide.")
        .def(
            "to_bytes", [](const Problem &p) { return py::bytes(to_bytes(p)); },
            "The problem as a file's content. Raises UnsupportedPipeline if it is not portable.")
        .def_static(
            "from_bytes", [](const py::bytes &bytes) { return from_bytes(std::string_view(bytes)); }, py::arg("data"),
            "The problem that `to_bytes()` wrote. Raises FormatError for anything else.")
        .def(
            "identity_bytes", [](const Problem &p) { return py::bytes(identity_bytes(p)); },
            "All that a search depends on (not the display name), the same in every process, to take a digest of.")
        .def(py::pickle([](const Problem &p) { return py::bytes(to_bytes(p)); },
                        [](const py::bytes &bytes) { return from_bytes(std::string_view(bytes)); }))
        .def("__repr__", [](const Problem &p) {
            return py::str("Problem({!r}, {} nodes, {} stages, target={!r}, parallelism={})")
                .format(p.name, p.num_nodes(), p.num_stages(), p.target, p.parallelism);
        });
    def_copies(problem);
}

}  // namespace halidegym
