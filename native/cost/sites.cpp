#include "cost/sites.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

// Sections and quirks are those of docs/specification/schedule-features.md.

namespace halidegym {

Sites::Sites(const Problem &problem)
    : problem_(problem), num_words_(node_bits::num_words(problem.nodes.size())), sources_(problem.nodes.size()),
      asked_(problem.nodes.size() * num_words_), nodes_(problem.nodes.size()), stages_(problem.stages.size()),
      parents_stages_(problem.stages.size()), changed_nodes_(problem.nodes.size()),
      changed_stages_(problem.stages.size()), to_presume_(num_words_), matter_(num_words_) {}

void Sites::locate(const Level &root) {
    levels_.clear();
    blocks_.clear();
    kept_.clear();
    replaced_.clear();
    replaced_blocks_.clear();
    changed_nodes_.clear();
    changed_stages_.clear();
    root_ = &root;
    begin_ = 1;
    num_parents_levels_ = std::numeric_limits<int>::max();
    most_inlined_calls_ = 0;
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
    std::fill(replaced_by_.begin(), replaced_by_.end(), -1);
    add(root, -1);
    settle(root, 0);
    for (const LevelRef &block : root.children) {
        blocks_.push_back(end());
        visit(*block, 0, -1);
    }
    levels_.front().end = num_parents_levels_ = end();
    replaced_by_.resize(std::max(replaced_by_.size(), levels_.size()), -1);
    find_sources();
    find_what_matters();
    to_presume_ = matter_;
    presume_sites();
    parents_nodes_ = nodes_;
    parents_stages_ = stages_;
    parents_most_inlined_calls_ = most_inlined_calls_;
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
        if (!is_new) replaced_blocks_.push_back(blocks_[i]);
        visit(*root.children[i], 0, is_new ? -1 : blocks_[i]);
    }
    replaced_by_.resize(std::max(replaced_by_.size(), levels_.size()), -1);
    presume_sites();
}

void Sites::forget() {
    for (const int node : changed_nodes_.members()) {
        nodes_[static_cast<size_t>(node)] = parents_nodes_[static_cast<size_t>(node)];
    }
    for (const int stage : changed_stages_.members()) {
        stages_[static_cast<size_t>(stage)] = parents_stages_[static_cast<size_t>(stage)];
    }
    for (const int position : replaced_) {
        replaced_by_[static_cast<size_t>(position)] = -1;
    }
    changed_nodes_.clear();
    changed_stages_.clear();
    kept_.clear();
    replaced_.clear();
    replaced_blocks_.clear();
    begin_ = num_parents_levels_;
    levels_.erase(levels_.begin() + begin_, levels_.end());
    most_inlined_calls_ = parents_most_inlined_calls_;
}

NestLevel &Sites::add(const Level &level, int parent) {
    const int position = end();
    NestLevel &entry = levels_.emplace_back();
    entry.level = &level;
    entry.parent = parent;
    entry.twin = position;
    entry.trips = level.size.product();
    if (parent < 0) return entry;
    const NestLevel &outer = this->level(parent);
    entry.depth = outer.depth + 1;
    entry.block = parent == 0 ? position : outer.block;
    entry.instances = outer.iterations();
    entry.tasks = parent == 0 ? tasks(level) : 1;
    entry.outer_parallelism = outer.outer_parallelism * outer.tasks;
    return entry;
}

// `twin` is the level of the parent that this one or, if a decision has put it around others, the first one inside of
// it is an edited copy of; -1 if there is none.
void Sites::visit(const Level &level, int parent, int twin) {
    const int position = end();
    NestLevel &entry = add(level, parent);
    // A split gives the regions of the level to its inner half.
    const bool is_edited = twin >= 0 && level.regions == this->level(twin).level->regions;
    if (is_edited) {
        replaced_by_[static_cast<size_t>(twin)] = position;
        replaced_.push_back(twin);
    }
    if (position >= num_parents_levels_) entry.twin = is_edited ? twin : -1;
    settle(level, position);
    if (!level.children.empty()) visit_children(position, twin, is_edited);
    levels_[static_cast<size_t>(position)].end = end();
}

void Sites::visit_children(int position, int twin, bool is_edited) {
    const Level &level = *this->level(position).level;
    if (!is_edited) {
        for (const LevelRef &child : level.children) {
            visit(*child, position, std::exchange(twin, -1));
        }
        return;
    }
    // New children come after those of the twin.
    const bool may_stay = is_in_same_surroundings(position, twin);
    const int twins_end = this->level(twin).end;
    int next = twin + 1;
    for (const LevelRef &child : level.children) {
        const int childs_twin = next < twins_end ? next : -1;
        if (childs_twin >= 0) next = this->level(childs_twin).end;
        if (may_stay && childs_twin >= 0 && this->level(childs_twin).level == child.get()) {
            kept_.push_back({childs_twin, position});
        } else {
            visit(*child, position, childs_twin);
        }
    }
}

// Whether what lies in the body of the level at this position cannot tell it from its twin.
bool Sites::is_in_same_surroundings(int position, int twin) const {
    const NestLevel &a = level(position);
    const NestLevel &b = level(twin);
    return a.depth == b.depth && a.instances == b.instances && a.tasks == b.tasks &&
           a.outer_parallelism == b.outer_parallelism && a.level->size == b.level->size &&
           a.level->parallel == b.level->parallel && level(a.parent).level->regions == level(b.parent).level->regions;
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
        // The last of several levels wins (quirk Q4), which may be one of the parent that is not visited again.
        if (sites.innermost >= 0 && this->level(sites.innermost).twin > entry.twin) continue;
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

// A Func of a single consumer, say, has that one's site whatever it is, unless the next decision may schedule it. Funcs
// are scheduled in their order, which has consumers before producers.
void Sites::find_sources() {
    bool may_be_next = true;
    for (const Node &node : problem_.nodes) {
        auto &[sources, are_one] = sources_[static_cast<size_t>(node.id)];
        sources.clear();
        are_one = false;
        if (node.is_input || of_node(node.id).is_scheduled()) continue;
        for (const auto &consumer : node.bound_rules.consumers) {
            const Sources &further = sources_[static_cast<size_t>(consumer.node)];
            sources.push_back(further.are_one ? further.consumers.front() : Consumer{consumer.stage, consumer.node});
        }
        const auto is_first = [&](const Consumer &source) { return source.stage == sources.front().stage; };
        are_one = !std::exchange(may_be_next, false) && !node.is_output && std::ranges::all_of(sources, is_first);
    }
}

// Funcs that are not scheduled and that a stage calls which is, or which the next decision may schedule; and those that
// their sites follow from.
void Sites::find_what_matters() {
    std::ranges::fill(matter_, 0);
    std::ranges::fill(asked_, 0);
    bool may_be_next = true;
    for (const Node &node : problem_.nodes) {
        const bool is_scheduled = of_node(node.id).is_scheduled();
        if (!is_scheduled && (node.is_input || !std::exchange(may_be_next, false))) continue;
        for (int s = 0; s < node.num_stages; s++) {
            node_bits::unite(matter_, problem_.stage(node, s).producers);
        }
    }
    for (auto node = problem_.nodes.rbegin(); node != problem_.nodes.rend(); ++node) {
        if (!node_bits::contains(matter_, node->id)) continue;
        for (const Consumer &source : sources_[static_cast<size_t>(node->id)].consumers) {
            node_bits::insert(matter_, source.node);
            node_bits::insert(set_of(asked_, source.node), node->id);
        }
    }
}

// Of the Funcs that are not scheduled, those whose consumers have changed. Consumers come before producers, so they
// have their sites already.
void Sites::presume_sites() {
    for (const int node : changed_nodes_.members()) {
        ask_producers(node);
    }
    for (size_t word = 0; word < num_words_; word++) {
        while (to_presume_[word] != 0) {
            const int id = static_cast<int>(word) * 64 + std::countr_zero(to_presume_[word]);
            to_presume_[word] &= to_presume_[word] - 1;
            const NodeSites &sites = of_node(id);
            if (sites.status != NodeSites::Status::Unscheduled || problem_.nodes[static_cast<size_t>(id)].is_output)
                continue;
            const int site = presumed_site(id);
            if (site == sites.compute) continue;
            NodeSites &changed = change_node(id);
            changed.compute = site;
            changed.store = site;
            ask_producers(id);
        }
    }
}

void Sites::ask_producers(int node) {
    node_bits::unite(to_presume_, set_of(asked_, node));
}

int Sites::presumed_site(int node) const {
    int site = -1;
    for (const Consumer &consumer : sources_[static_cast<size_t>(node)].consumers) {
        const int innermost = of_stage(consumer.stage).innermost;
        const int next = current(innermost >= 0 ? innermost : of_node(consumer.node).compute);
        site = site < 0 ? next : meet(next, site);
        if (site == 0) break;  // stays there
    }
    return site;
}

// Where two sites meet: if one is an ancestor of the other, at the ancestor's parent (quirk Q3).
int Sites::meet(int a, int b) const {
    if (a == 0 || b == 0) return 0;
    if (a == b) return a;
    while (level(a).depth > level(b).depth)
        a = parent(a);
    while (level(b).depth > level(a).depth)
        b = parent(b);
    do {
        a = parent(a);
        b = parent(b);
    } while (a != b);
    return a;
}

}  // namespace halidegym
