#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nest/level.h"
#include "problem/problem.h"

namespace halidegym {

// Sections and quirks are those of docs/specification/schedule-features.md.

// One level of a nest: its place in it, and how often it runs (section 3.1).
struct NestLevel {
    const Level *level;
    int parent;  // position of the parent, -1 for the root
    int end;     // position after its last descendant
    int depth;   // distance from the root
    int block;   // position of the root child that it lies in or is, -1 for the root
    int64_t trips;
    int64_t instances;  // how often it is entered
    int64_t tasks;
    int64_t outer_parallelism;  // product of the tasks of all levels around it

    // How often its body runs.
    int64_t iterations() const { return instances * trips; }
};

// Where a Func lives (section 2). Levels are given by their position in Sites::levels(), the root being 0.
struct NodeSites {
    enum class Status : uint8_t { Input, Unscheduled, Inlined, Realized };
    Status status = Status::Unscheduled;
    int compute = -1;
    int store = -1;
    int storage_dim = -1;  // innermost storage dimension, -1 while the layout is open

    bool is_scheduled() const { return status == Status::Inlined || status == Status::Realized; }
    bool has_layout() const { return storage_dim >= 0; }
    bool operator==(const NodeSites &) const = default;
};

// The outermost and the innermost level of a stage; -1 if it is not scheduled. An inlined Func has its consumer's
// innermost level for both.
struct StageSites {
    int produce = -1;
    int innermost = -1;
};

// The levels of a nest in depth-first order, and the sites of every Func and stage in it, for the Funcs that are not
// scheduled yet the presumed ones. Keeps its storage from one nest to the next.
class Sites {
public:
    explicit Sites(const Problem &problem);

    void locate(const Level &root);

    // Depth-first, children in list order, so that parents come before their children.
    std::span<const NestLevel> levels() const { return levels_; }
    const NestLevel &level(int position) const { return levels_[static_cast<size_t>(position)]; }
    const NodeSites &of_node(int node) const { return nodes_[static_cast<size_t>(node)]; }
    const StageSites &of_stage(int stage) const { return stages_[static_cast<size_t>(stage)]; }

private:
    void visit(const Level &level, int parent);
    void settle(const Level &level, int position);
    int64_t tasks(const Level &level) const;
    void presume_sites();
    int meet(int a, int b) const;

    const Problem &problem_;
    std::vector<NestLevel> levels_;
    std::vector<NodeSites> nodes_;
    std::vector<StageSites> stages_;
};

}  // namespace halidegym
