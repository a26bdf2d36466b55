#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cost/nest_table.h"
#include "nest/nest_maker.h"
#include "state/state.h"

namespace halidegym {

// The legal decisions of a state, as Python sees them: by index, which is checked.
class BoundExpansion {
public:
    explicit BoundExpansion(const State &state) : expansion_(state) {}

    const State &state() const { return expansion_.state(); }
    std::span<const Decision> decisions() const { return expansion_.decisions(); }
    size_t size() const { return decisions().size(); }
    const Decision &decision(int64_t index) const;
    int64_t index_of(const Decision &decision) const;
    pybind11::dict describe(int64_t index);
    pybind11::tuple sizes();
    State child(int64_t index) { return expansion_.child(decision(index)); }
    pybind11::array_t<double> costs() const;
    pybind11::tuple child_features(int64_t index);

private:
    Expansion expansion_;
    // Looks at children that are not built; empty until needed.
    struct Lookout {
        explicit Lookout(const State &parent) : table(parent.space().feature_constants) { table.start(*parent.nest()); }
        NestTable table;
        Workbench bench;
    };
    std::unique_ptr<Lookout> lookout_;
};

std::string repr(const Decision &decision);

// Ids of the stages with a row, and the rows.
pybind11::tuple to_tuple(const FeatureTable &table);

void bind_decision(pybind11::class_<Decision> &type);
void bind_expansion(pybind11::class_<BoundExpansion> &type);

}  // namespace halidegym
