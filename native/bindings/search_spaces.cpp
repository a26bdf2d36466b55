#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/native_work.h"
#include "bindings/options.h"
#include "bindings/topics.h"
#include "bindings/values.h"
#include "problem/error.h"
#include "search/spaces/synthetic_tree.h"

namespace py = pybind11;

namespace halidegym {

namespace {

const SyntheticTree::Node &node_of(const SyntheticTree &tree, const SyntheticTree::Node &node) {
    if (!tree.has(node)) {
        throw InvalidParameter("the node is one of another tree; give one that this tree's root() or apply() returned");
    }
    return node;
}

SyntheticTree::Node child(const SyntheticTree &tree, const SyntheticTree::Node &node, int64_t decision) {
    const auto decisions = tree.children(node_of(tree, node)).decisions();
    if (decision < 0 || decision >= static_cast<int64_t>(decisions.size())) {
        throw InvalidParameter("decision " + std::to_string(decision) + " of a node with " +
                               std::to_string(decisions.size()) + " children; give an index below that");
    }
    return tree.apply(node, static_cast<uint32_t>(decision));
}

void bind_synthetic_tree(py::module_ &m) {
    using Node = SyntheticTree::Node;
    const SyntheticTreeOptions defaults;
    py::class_<Node> node(m, "SyntheticNode", "A node of a synthetic tree; an immutable value.");
    node.def_readonly("depth", &Node::depth)
        .def_readonly("cost", &Node::cost)
        .def_readonly("path_cost", &Node::path_cost)
        .def(py::self == py::self)
        .def("__hash__", [](const Node &node) { return node.path; })
        .def("__repr__",
             [](const Node &node) {
                 return py::str("SyntheticNode(depth={}, cost={}, path_cost={})")
                     .format(node.depth, node.cost, node.path_cost);
             })
        .def(py::pickle([](const Node &n) { return py::make_tuple(n.tree, n.path, n.depth, n.cost, n.path_cost); },
                        [](const py::tuple &pickled) {
                            return Node{pickled[0].cast<uint64_t>(), pickled[1].cast<uint64_t>(),
                                        pickled[2].cast<int>(), pickled[3].cast<double>(), pickled[4].cast<double>()};
                        }));
    def_copies(node);

    py::class_<SyntheticTree> tree(m, "SyntheticTree", "A random tree with the exact optimum known.");
    tree.def(py::init([](const py::object &branching, const py::object &depth, const py::object &delta,
                         const py::object &seed) {
                 return SyntheticTree({parameter<int>("branching", branching), parameter<int>("depth", depth),
                                       parameter<double>("delta", delta), parameter<uint64_t>("seed", seed)});
             }),
             py::kw_only(), py::arg("branching") = defaults.branching, py::arg("depth") = defaults.depth,
             py::arg("delta") = defaults.delta, py::arg("seed") = defaults.seed)
        .def_property_readonly("branching", [](const SyntheticTree &tree) { return tree.options().branching; })
        .def_property_readonly("delta", [](const SyntheticTree &tree) { return tree.options().delta; })
        .def_property_readonly("seed", [](const SyntheticTree &tree) { return tree.options().seed; })
        .def("optimum",
             [](const SyntheticTree &tree) {
                 const UnlockedWork work;
                 const SyntheticTree::Optimum optimum = tree.optimum(Pause());
                 return std::make_pair(optimum.cost, optimum.actions);
             })
        .def("root", &SyntheticTree::root)
        .def(
            "is_complete",
            [](const SyntheticTree &tree, const Node &node) { return tree.is_complete(node_of(tree, node)); },
            py::arg("state"))
        .def(
            "depth", [](const SyntheticTree &tree, const Node &node) { return tree.depth(node_of(tree, node)); },
            py::arg("state"))
        .def("max_depth", &SyntheticTree::max_depth)
        .def(
            "decisions",
            [](const SyntheticTree &tree, const Node &node) {
                return py::module_::import("builtins")
                    .attr("range")(tree.children(node_of(tree, node)).decisions().size());
            },
            py::arg("state"))
        .def("apply", &child, py::arg("state"), py::arg("decision"))
        .def(
            "cost", [](const SyntheticTree &tree, const Node &node) { return tree.cost(node_of(tree, node)); },
            py::arg("state"))
        .def("__repr__",
             [](const SyntheticTree &tree) {
                 const SyntheticTreeOptions &options = tree.options();
                 return py::str("SyntheticTree(branching={}, depth={}, delta={}, seed={})")
                     .format(options.branching, options.depth, options.delta, options.seed);
             })
        .def(py::pickle(
            [](const SyntheticTree &t) {
                const SyntheticTreeOptions &options = t.options();
                return py::make_tuple(options.branching, options.depth, options.delta, options.seed);
            },
            [](const py::tuple &pickled) {
                return SyntheticTree({pickled[0].cast<int>(), pickled[1].cast<int>(), pickled[2].cast<double>(),
                                      pickled[3].cast<uint64_t>()});
            }));
    def_copies(tree);
}

}  // namespace

void bind_search_spaces(py::module_ &m) {
    bind_synthetic_tree(m);
}

}  // namespace halidegym
