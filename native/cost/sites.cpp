#include "cost/sites.h"

#include <algorithm>

// Sections and quirks are those of docs/specification/schedule-features.md.

namespace halidegym {

Sites::Sites(const Problem &problem)
    : problem_(problem), nodes_(problem.nodes.size()), stages_(problem.stages.size()) {}

void Sites::locate(const Level &root) {
    levels_.clear();
    for (const Node &node : problem_.nodes) {
        NodeSites &sites = nodes_[static_cast<size_t>(node.id)];
        if (node.is_input) {
            sites = {NodeSites::Status::Input, 0, 0, 0};
        } else if (node.is_output) {
            sites = {NodeSites::Status::Unscheduled, 0, 0, -1};
        } else {
            sites = {};
        }
    }
    std::fill(stages_.begin(), stages_.end(), StageSites{});
    visit(root, -1);
    presume_sites();
}

void Sites::visit(const Level &level, int parent) {
    const int position = static_cast<int>(levels_.size());
    NestLevel entry{.level = &level,
                    .parent = parent,
                    .end = 0,
                    .depth = 0,
                    .block = -1,
                    .trips = level.size.product(),
                    .instances = 1,
                    .tasks = 1,
                    .outer_parallelism = 1};
    if (parent >= 0) {
        const NestLevel &outer = levels_[static_cast<size_t>(parent)];
        entry.depth = outer.depth + 1;
        entry.block = parent == 0 ? position : outer.block;
        entry.instances = outer.iterations();
        entry.tasks = parent == 0 ? tasks(level) : 1;
        entry.outer_parallelism = outer.outer_parallelism * outer.tasks;
    }
    levels_.push_back(entry);
    settle(level, position);
    for (const LevelRef &child : level.children) {
        visit(*child, position);
    }
    levels_[static_cast<size_t>(position)].end = static_cast<int>(levels_.size());
}

void Sites::settle(const Level &level, int position) {
    for (const int stored : level.store_at) {
        NodeSites &sites = nodes_[static_cast<size_t>(stored)];
        sites.status = NodeSites::Status::Realized;
        sites.store = position;
    }
    if (level.is_root()) return;

    StageSites &stage = stages_[static_cast<size_t>(level.stage)];
    const int parent = levels_[static_cast<size_t>(position)].parent;
    if (levels_[static_cast<size_t>(parent)].level->node != level.node) {
        NodeSites &sites = nodes_[static_cast<size_t>(level.node)];
        sites.compute = parent;
        sites.storage_dim = level.vector_dim;
        stage.produce = position;
    }
    if (level.innermost) stage.innermost = position;

    // The last of several levels wins (quirk Q4).
    for (const auto &[inlined, calls] : level.inlined) {
        nodes_[static_cast<size_t>(inlined)] = {NodeSites::Status::Inlined, position, position, -1};
        const int inlined_stage = problem_.nodes[static_cast<size_t>(inlined)].first_stage;
        stages_[static_cast<size_t>(inlined_stage)] = {position, position};
    }
}

// Parallel tasks of a block. One that has not been split into tasks yet is judged by what it could be split into.
int64_t Sites::tasks(const Level &level) const {
    const int64_t cores = problem_.parallelism;
    if (cores <= 1) return 1;
    const Stage &stage = problem_.stages[static_cast<size_t>(level.stage)];
    int64_t tasks = 1;
    for (int i = level.size.size() - 1; i >= 0; i--) {
        if (!stage.loops[static_cast<size_t>(i)].pure) {
            if (level.size[i] != 1) break;  // blocks all loops inside it (quirk Q11)
        } else if (level.parallel) {
            tasks *= level.size[i];
        } else if (tasks < cores) {
            tasks = std::min(tasks * level.size[i], 8 * cores);
        }
    }
    return tasks;
}

// Consumers come before producers, so they have their sites already.
void Sites::presume_sites() {
    for (const Node &node : problem_.nodes) {
        NodeSites &sites = nodes_[static_cast<size_t>(node.id)];
        if (sites.status != NodeSites::Status::Unscheduled || node.is_output) continue;
        int site = -1;
        for (const int e : node.outgoing) {
            const Stage &consumer =
                problem_.stages[static_cast<size_t>(problem_.edges[static_cast<size_t>(e)].consumer_stage)];
            const int innermost = of_stage(consumer.id).innermost;
            const int next = innermost >= 0 ? innermost : of_node(consumer.node).compute;
            site = site < 0 ? next : meet(next, site);
        }
        sites.compute = site;
        sites.store = site;
    }
}

// Where two sites meet: if one is an ancestor of the other, at the ancestor's parent (quirk Q3).
int Sites::meet(int a, int b) const {
    if (a == 0 || b == 0) return 0;
    if (a == b) return a;
    while (level(a).depth > level(b).depth)
        a = level(a).parent;
    while (level(b).depth > level(a).depth)
        b = level(b).parent;
    do {
        a = level(a).parent;
        b = level(b).parent;
    } while (a != b);
    return a;
}

}  // namespace halidegym
