#include "bindings/expansion.h"

#include <pybind11/operators.h>

#include <algorithm>
#include <limits>

#include "bindings/native_work.h"
#include "bindings/values.h"
#include "problem/error.h"
#include "state/decision_sizes.h"
#include "state/evaluator.h"

namespace py = pybind11;

namespace halidegym {

namespace {

const char *name_of(Decision::Kind kind) {
    switch (kind) {
    case Decision::Kind::Pass:
        return "pass";
    case Decision::Kind::Inline:
        return "inline";
    case Decision::Kind::ComputeAtLevel:
        return "compute_at_level";
    case Decision::Kind::ComputeAtTile:
        return "compute_at_tile";
    case Decision::Kind::StoreAtTile:
        return "store_at_tile";
    case Decision::Kind::StoreAtTileSplit:
        return "store_at_tile_split";
    case Decision::Kind::StoreAtLevel:
        return "store_at_level";
    case Decision::Kind::StoreAtLevelSplit:
        return "store_at_level_split";
    case Decision::Kind::Parallelize:
        return "parallelize";
    }
    throw InternalError("a decision of no known kind");
}

py::tuple tuple_of(const Extents &extents) {
    py::tuple result(static_cast<size_t>(extents.size()));
    for (int i = 0; i < extents.size(); i++) {
        result[static_cast<size_t>(i)] = extents[i];
    }
    return result;
}

py::tuple to_tuple(const Decision &decision) {
    return py::make_tuple(static_cast<int>(decision.kind), decision.vector_dim, decision.depth, decision.tile,
                          decision.inner_tile);
}

Decision decision(const py::tuple &pickled) {
    return {.kind = static_cast<Decision::Kind>(pickled[0].cast<uint8_t>()),
            .vector_dim = pickled[1].cast<uint8_t>(),
            .depth = pickled[2].cast<uint16_t>(),
            .tile = pickled[3].cast<uint32_t>(),
            .inner_tile = pickled[4].cast<uint32_t>()};
}

}  // namespace

const Decision &BoundExpansion::decision(int64_t index) const {
    const auto decisions = expansion_.decisions();
    if (index < 0 || index >= static_cast<int64_t>(decisions.size())) {
        throw InvalidParameter("decision " + std::to_string(index) + " of a state with " +
                               std::to_string(decisions.size()) + " legal decisions; give an index below that");
    }
    return decisions[static_cast<size_t>(index)];
}

int64_t BoundExpansion::index_of(const Decision &decision) const {
    const auto decisions = expansion_.decisions();
    const auto found = std::ranges::find(decisions, decision);
    if (found == decisions.end()) {
        throw InvalidParameter(repr(decision) +
                               " is not legal here; give a decision for which child_if_legal is not None");
    }
    return found - decisions.begin();
}

py::dict BoundExpansion::describe(int64_t index) {
    const State &state = expansion_.state();
    const Decision &decision = this->decision(index);
    py::dict result;
    result["kind"] = name_of(decision.kind);
    result["func"] = state.next_func().name;
    if (const Level *level = expansion_.level(decision)) {
        const Problem &problem = *state.space().problem;
        result["vector_dim"] = decision.vector_dim;
        result["depth"] = decision.depth;
        result["level"] = level->is_root() ? "root" : problem.stages[static_cast<size_t>(level->stage)].name;
    }
    const auto add_tuple = [&](const char *key, const Extents &extents) {
        if (!extents.empty()) {
            result[key] = tuple_of(extents);
        }
    };
    add_tuple("outer_tile", expansion_.outer_tile(decision));
    add_tuple("inner_tile", expansion_.inner_tile(decision));
    add_tuple("tasks", expansion_.tasks(decision));
    return result;
}

py::tuple BoundExpansion::sizes() {
    const DecisionSizes found(expansion_, expansion_.decisions());
    const auto count = static_cast<py::ssize_t>(size());
    return py::make_tuple(
        py::array_t<int32_t>({count, py::ssize_t{DecisionSizes::num_codes}}, found.codes.data()),
        py::array_t<int64_t>({count, py::ssize_t{DecisionSizes::num_tuples}, py::ssize_t{found.loops}},
                             found.sizes.data()));
}

// Of an expansion of its own, so that threads that use this one need not wait.
py::array_t<double> BoundExpansion::costs() const {
    py::array_t<double> costs(static_cast<py::ssize_t>(size()));
    double *cost = costs.mutable_data();
    const UnlockedWork work;
    const State &state = expansion_.state();
    Expansion children(state, Expansion::Unlisted{});
    Evaluator evaluator(state.space_ref());
    Workbench bench;
    for (const Decision &decision : expansion_.decisions()) {
        bench.clear();
        *cost++ = evaluator.cost_of_child(state.nest(), *children.child_nest(bench, decision))
                      .value_or(std::numeric_limits<double>::quiet_NaN());
    }
    return costs;
}

py::tuple BoundExpansion::child_features(int64_t index) {
    const Decision &decision = this->decision(index);
    if (!lookout_) {
        lookout_ = std::make_unique<Lookout>(expansion_.state());
    }
    lookout_->bench.clear();
    lookout_->table.look_at(*expansion_.child_nest(lookout_->bench, decision));
    return to_tuple(lookout_->table.table());
}

std::string repr(const Decision &decision) {
    const auto field = [](const char *name, uint32_t value) {
        return value == 0 ? "" : std::string(" ") + name + "=" + std::to_string(value);
    };
    return std::string("<Decision ") + name_of(decision.kind) + field("vector_dim", decision.vector_dim) +
           field("depth", decision.depth) + field("tile", decision.tile) + field("inner_tile", decision.inner_tile) +
           ">";
}

py::tuple to_tuple(const FeatureTable &table) {
    const auto count = static_cast<py::ssize_t>(table.stages.size());
    py::array_t<int32_t> stages(count);
    py::array_t<double> rows({count, static_cast<py::ssize_t>(num_schedule_features)});
    for (py::ssize_t i = 0; i < count; i++) {
        const int stage = table.stages[static_cast<size_t>(i)];
        stages.mutable_at(i) = stage;
        std::copy(table.row(stage).begin(), table.row(stage).end(), rows.mutable_data(i, 0));
    }
    return py::make_tuple(stages, rows);
}

void bind_decision(py::class_<Decision> &type) {
    py::tuple kinds(static_cast<size_t>(Decision::num_kinds));
    for (size_t kind = 0; kind < kinds.size(); kind++) {
        kinds[kind] = name_of(static_cast<Decision::Kind>(kind));
    }
    type.attr("KINDS") = kinds;
    type.def(py::self == py::self)
        .def("__hash__", [](const Decision &decision) { return py::hash(to_tuple(decision)); })
        .def("__repr__", &repr)
        .def(py::pickle([](const Decision &decision) { return to_tuple(decision); }, &decision));
    def_copies(type);
}

void bind_expansion(py::class_<BoundExpansion> &type) {
    type.def_property_readonly("count", &BoundExpansion::size)
        .def("__len__", &BoundExpansion::size)
        .def(
            "__repr__",
            [](const BoundExpansion &expansion) { return py::str("Expansion({} decisions)").format(expansion.size()); })
        .def("decision", &BoundExpansion::decision, py::arg("index"), py::return_value_policy::copy)
        .def("index_of", &BoundExpansion::index_of, py::arg("decision"))
        .def("describe", &BoundExpansion::describe, py::arg("index"))
        .def("sizes", &BoundExpansion::sizes)
        .def("child", &BoundExpansion::child, py::arg("index"))
        .def("costs", &BoundExpansion::costs)
        .def("child_features", &BoundExpansion::child_features, py::arg("index"));
}

}  // namespace halidegym
