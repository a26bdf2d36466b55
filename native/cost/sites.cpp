#include "cost/sites.h"

#include <algorithm>
#include <bit>

// Sections and quirks are those of docs/specification/schedule-features.md.

namespace halidegym {

Sites::Sites(const Problem &problem)
    : problem_(problem), producers_(problem.nodes.size()), nodes_(problem.nodes.size()),
      stages_(problem.stages.size()), parents_stages_(problem.stages.size()), changed_nodes_(problem.nodes.size()),
      changed_stages_(problem.stages.size()), replaced_orders_(problem.stages.size()),
      to_presume_((problem.nodes.size() + 63) / 64) {
    for (const Edge &edge : problem.edges) {
        const int consumer = problem.stages[static_cast<size_t>(edge.consumer_stage)].node;
        producers_[static_cast<size_t>(consumer)].push_back(edge.producer);
    }
}

void Sites::locate(const Level &root) {
    levels_.clear();
    blocks_.clear();
    parents_blocks_.clear();
    changed_nodes_.clear();
    changed_stages_.clear();
    replaced_orders_.clear();
    root_ = &root;
    begin_ = 0;
    most_inlined_calls_ = 0;
    for (const Node &node : problem_.nodes) {
        NodeSites &sites = nodes_[static_cast<size_t>(node.id)];
        if (node.is_input) {
            sites = {NodeSites::Status::Input, 0, 0, 0};
        } else if (node.is_output) {
            sites = {NodeSites::Status::Unscheduled, 0, 0, -1};
        } else {
            sites = {};
            to_presume_[static_cast<size_t>(node.id) / 64] |= uint64_t{1} << (node.id % 64);
        }
    }
    std::fill(stages_.begin(), stages_.end(), StageSites{});
    visit(root, -1, -1);
    for (size_t i = 0; i < root.children.size(); i++) {
        blocks_.push_back({static_cast<int>(levels_.size()), -1});
        parents_blocks_.push_back(blocks_.back().position);
        visit(*root.children[i], 0, static_cast<int>(i));
    }
    levels_.front().end = static_cast<int>(levels_.size());
    presume_sites();
    parents_nodes_ = nodes_;
    parents_stages_ = stages_;
    parents_most_inlined_calls_ = most_inlined_calls_;
    begin_ = 1;
}

void Sites::locate_child(const Level &root) {
    forget();
    for (size_t i = root_->store_at.size(); i < root.store_at.size(); i++) {
        NodeSites &sites = change_node(root.store_at[i]);
        sites.status = NodeSites::Status::Realized;
        sites.store = 0;
    }
    for (size_t i = 0; i < root.children.size(); i++) {
        const bool is_new = i >= root_->children.size();
        if (!is_new && root.children[i] == root_->children[i]) continue;
        blocks_.push_back({static_cast<int>(levels_.size()), is_new ? -1 : parents_blocks_[i]});
        if (!is_new) replaced_orders_.insert(static_cast<int>(i));
        visit(*root.children[i], 0, static_cast<int>(i));
    }
    presume_sites();
}

void Sites::forget() {
    for (const int node : changed_nodes_.members()) {
        nodes_[static_cast<size_t>(node)] = parents_nodes_[static_cast<size_t>(node)];
    }
    for (const int stage : changed_stages_.members()) {
        stages_[static_cast<size_t>(stage)] = parents_stages_[static_cast<size_t>(stage)];
    }
    changed_nodes_.clear();
    changed_stages_.clear();
    replaced_orders_.clear();
    blocks_.clear();
    begin_ = levels_.front().end;
    levels_.erase(levels_.begin() + begin_, levels_.end());
    most_inlined_calls_ = parents_most_inlined_calls_;
}

// All but the root is visited with all levels inside of it.
void Sites::visit(const Level &level, int parent, int order) {
    const int position = static_cast<int>(levels_.size());
    NestLevel entry{.level = &level,
                    .parent = parent,
                    .end = 0,
                    .depth = 0,
                    .block = -1,
                    .order = order,
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
    if (parent >= 0) {
        for (const LevelRef &child : level.children) {
            visit(*child, position, order);
        }
    }
    levels_[static_cast<size_t>(position)].end = static_cast<int>(levels_.size());
}

void Sites::settle(const Level &level, int position) {
    for (const int stored : level.store_at) {
        NodeSites &sites = change_node(stored);
        sites.status = NodeSites::Status::Realized;
        sites.store = position;
    }
    if (level.is_root()) return;

    StageSites &stage = change_stage(level.stage);
    const NestLevel &entry = levels_[static_cast<size_t>(position)];
    if (levels_[static_cast<size_t>(entry.parent)].level->node != level.node) {
        NodeSites &sites = change_node(level.node);
        sites.compute = entry.parent;
        sites.storage_dim = level.vector_dim;
        stage.produce = position;
    }
    if (level.innermost) stage.innermost = position;

    for (const auto &[inlined, calls] : level.inlined) {
        most_inlined_calls_ = std::max(most_inlined_calls_, calls);
        StageSites &sites = change_stage(problem_.nodes[static_cast<size_t>(inlined)].first_stage);
        // The last of several levels wins (quirk Q4), which may lie in a block that is not visited again.
        if (sites.innermost >= 0 && levels_[static_cast<size_t>(sites.innermost)].order > entry.order) continue;
        sites = {position, position};
        change_node(inlined) = {NodeSites::Status::Inlined, position, position, -1};
    }
}

NodeSites &Sites::change_node(int node) {
    changed_nodes_.insert(node);
    return nodes_[static_cast<size_t>(node)];
}

StageSites &Sites::change_stage(int stage) {
    changed_stages_.insert(stage);
    return stages_[static_cast<size_t>(stage)];
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

// Of the Funcs that are not scheduled, those whose consumers have changed. Consumers come before producers, so they
// have their sites already.
void Sites::presume_sites() {
    const auto ask_again = [&](int consumer) {
        for (const int producer : producers_[static_cast<size_t>(consumer)]) {
            to_presume_[static_cast<size_t>(producer) / 64] |= uint64_t{1} << (producer % 64);
        }
    };
    for (const int node : changed_nodes_.members()) {
        ask_again(node);
    }
    for (size_t word = 0; word < to_presume_.size(); word++) {
        while (to_presume_[word] != 0) {
            const int id = static_cast<int>(word) * 64 + std::countr_zero(to_presume_[word]);
            to_presume_[word] &= to_presume_[word] - 1;
            const Node &node = problem_.nodes[static_cast<size_t>(id)];
            const NodeSites &sites = of_node(id);
            if (sites.status != NodeSites::Status::Unscheduled || node.is_output) continue;
            const int site = presumed_site(node);
            if (site == sites.compute) continue;
            NodeSites &changed = change_node(id);
            changed.compute = site;
            changed.store = site;
            ask_again(id);
        }
    }
}

int Sites::presumed_site(const Node &node) const {
    int site = -1;
    for (const int e : node.outgoing) {
        const Stage &consumer =
            problem_.stages[static_cast<size_t>(problem_.edges[static_cast<size_t>(e)].consumer_stage)];
        const int innermost = of_stage(consumer.id).innermost;
        const int next = innermost >= 0 ? innermost : of_node(consumer.node).compute;
        site = site < 0 ? next : meet(next, site);
    }
    return site;
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
