#include "cost/nest_table.h"

#include <algorithm>

// Sections and quirks are those of docs/specification/schedule-features.md.

namespace halidegym {

namespace {

using Status = NodeSites::Status;

}  // namespace

NestTable::NestTable(const FeatureConstants &constants)
    : problem_(constants.problem), sites_(problem_), features_(constants, sites_), rows_(problem_.stages.size()),
      readers_(problem_.nodes.size()), inlined_(problem_.nodes.size()), parents_realizations_(problem_.nodes.size()),
      realizations_(problem_.nodes.size()), childs_rows_(problem_.stages.size()), own_rows_(problem_.stages.size()),
      own_realizations_(problem_.nodes.size()), to_sum_(problem_.nodes.size()) {
    table_.rows.resize(problem_.stages.size());
}

void NestTable::start(const Level &parent) {
    forget();
    sites_.locate(parent);
    list_parents_stages();
    for (const int node : sites_.nodes()) {
        if (sites_.of_node(node).status == Status::Realized) measure_realization(node);
    }
    parents_realizations_ = realizations_;
    working_sets_.assign(1, 0);
    for (const int stored : parent.store_at) {
        working_sets_.front() += realizations_[static_cast<size_t>(stored)].bytes_at_production;
    }
    measure_blocks();
    parents_working_set_ = working_sets_.front();
    fill_parents_rows();
}

// Back to the parent.
void NestTable::forget() {
    for (const int node : own_realizations_.members()) {
        realizations_[static_cast<size_t>(node)] = parents_realizations_[static_cast<size_t>(node)];
    }
    own_realizations_.clear();
    own_rows_.clear();
    stages_.resize(num_parents_stages_);
}

void NestTable::look_at(const Level &child) {
    forget();
    sites_.locate_child(child);
    for (const int node : sites_.nodes()) {
        if (sites_.of_node(node).is_scheduled() && !sites_.parents_of_node(node).is_scheduled()) list_stages(node);
    }
    measure_childs_realizations();
    measure_root();
    measure_blocks();
    find_moved();
    fill_childs_rows();
    fill_inlined_rows();
}

void NestTable::list_parents_stages() {
    stages_.clear();
    for (const Node &node : problem_.nodes) {
        if (sites_.of_node(node.id).is_scheduled()) list_stages(node.id);
    }
    num_parents_stages_ = stages_.size();
}

void NestTable::list_stages(int node) {
    const Node &scheduled = problem_.nodes[static_cast<size_t>(node)];
    for (int s = scheduled.num_stages - 1; s >= 0; s--) {
        stages_.push_back(scheduled.first_stage + s);
    }
}

bool NestTable::is_same_realization(int node) const {
    const NodeSites &now = sites_.of_node(node);
    const NodeSites &before = sites_.parents_of_node(node);
    return before.status == Status::Realized && now.storage_dim == before.storage_dim &&
           sites_.is_same_body(now.store, before.store) && sites_.is_same_body(now.compute, before.compute);
}

void NestTable::measure_realization(int node) {
    realizations_[static_cast<size_t>(node)] = features_.realization(problem_.nodes[static_cast<size_t>(node)]);
}

void NestTable::measure_childs_realizations() {
    for (const int node : sites_.nodes()) {
        if (sites_.of_node(node).status != Status::Realized || is_same_realization(node)) continue;
        own_realizations_.insert(node);
        measure_realization(node);
    }
}

// The working set of the root is the parent's, but for what the child stores there and the blocks that it replaces.
void NestTable::measure_root() {
    int64_t &bytes = working_sets_.front();
    bytes = parents_working_set_;
    for (const int node : own_realizations_.members()) {
        if (sites_.of_node(node).store != 0) continue;
        bytes += realizations_[static_cast<size_t>(node)].bytes_at_production;
        if (sites_.parents_of_node(node).status == Status::Realized) {
            bytes -= parents_realizations_[static_cast<size_t>(node)].bytes_at_production;
        }
    }
    for (const int block : sites_.replaced_blocks()) {
        bytes -= working_sets_[static_cast<size_t>(block)];
    }
}

// Bytes allocated in the body of each level and inside of it (section 3.1), for the levels that are visited.
void NestTable::measure_blocks() {
    working_sets_.resize(static_cast<size_t>(sites_.begin()));
    working_sets_.resize(static_cast<size_t>(sites_.end()), 0);
    for (const auto [position, parent] : sites_.kept()) {
        working_sets_[static_cast<size_t>(parent)] += working_sets_[static_cast<size_t>(position)];
    }
    for (int i = sites_.end() - 1; i >= sites_.begin(); i--) {
        const NestLevel &level = sites_.level(i);
        int64_t &bytes = working_sets_[static_cast<size_t>(i)];
        for (const int stored : level.level->store_at) {
            bytes += realizations_[static_cast<size_t>(stored)].bytes_at_production;
        }
        working_sets_[static_cast<size_t>(level.parent)] += bytes;
    }
}

NestTable::WorkingSets NestTable::working_sets(int stage) const {
    const auto at = [&](int level) { return working_sets_[static_cast<size_t>(sites_.current(level))]; };
    const NodeSites &sites = sites_.of_node(problem_.stages[static_cast<size_t>(stage)].node);
    if (sites.status != Status::Realized) return {0, 0, 0, at(0)};
    return {at(sites_.level(sites_.of_stage(stage).produce).block), at(sites.compute), at(sites.store), at(0)};
}

double NestTable::working_set(int stage) const {
    return static_cast<double>(working_sets_[static_cast<size_t>(sites_.current(sites_.of_stage(stage).produce))]);
}

FeatureRow NestTable::realized_row(const Stage &stage) {
    FeatureRow row = features_.of_realized(stage, realizations_[static_cast<size_t>(stage.node)]);
    row[feature::working_set] = working_set(stage.id);
    return row;
}

void NestTable::fill_parents_rows() {
    for (auto &readers : readers_) {
        readers.clear();
    }
    for (auto &leaves : inlined_) {
        leaves.clear();
    }
    for (int position = sites_.begin(); position < sites_.end(); position++) {
        const Level &level = *sites_.level(position).level;
        if (!level.innermost) continue;
        const Stage &stage = problem_.stages[static_cast<size_t>(level.stage)];
        rows_[static_cast<size_t>(stage.id)] = realized_row(stage);
        for (const int producer : features_.producers()) {
            readers_[static_cast<size_t>(producer)].push_back(stage.id);
        }
        for (const auto &[node, calls] : level.inlined) {
            inlined_[static_cast<size_t>(node)].push_back({position, calls});
        }
    }
    for (const Node &node : problem_.nodes) {
        if (sites_.of_node(node.id).status == Status::Inlined) {
            rows_[static_cast<size_t>(node.first_stage)] = inlined_row(node, inlined_[static_cast<size_t>(node.id)]);
        }
    }
}

// Whether others see another place of the Func than in the parent. Levels of other positions may still be the same.
bool NestTable::is_moved(int node) const {
    const NodeSites &now = sites_.of_node(node);
    const NodeSites &before = sites_.parents_of_node(node);
    if (now.status != before.status || now.storage_dim != before.storage_dim) return true;
    if (now.status == Status::Inlined) return false;
    const auto regions = [&](int level) { return sites_.level(level).level->regions.get(); };
    if (regions(now.compute) != regions(before.compute) || regions(now.store) != regions(before.store)) return true;
    return now.status == Status::Realized &&
           sites_.level(now.store).iterations() != sites_.level(before.store).iterations();
}

// Of the Funcs that any row of the parent has looked at.
void NestTable::find_moved() {
    moved_.clear();
    for (const int node : sites_.nodes()) {
        if (!readers_[static_cast<size_t>(node)].empty() && is_moved(node)) moved_.push_back(node);
    }
}

// Whether all levels that the stage's row depends on are those of the parent, wherever they lie now.
bool NestTable::is_same_site(const Stage &stage) const {
    const StageSites &now = sites_.of_stage(stage.id);
    const StageSites &before = sites_.parents_of_stage(stage.id);
    if (before.innermost < 0) return false;
    const NodeSites &node_now = sites_.of_node(stage.node);
    const NodeSites &node_before = sites_.parents_of_node(stage.node);
    if (node_now.storage_dim != node_before.storage_dim || !sites_.is_same_body(node_now.store, node_before.store) ||
        !sites_.is_same_body(node_now.compute, node_before.compute) ||
        (now.innermost == now.produce) != (before.innermost == before.produce)) {
        return false;
    }
    const auto is_same_level = [&](int a, int b) {
        return a == b || (sites_.is_same_body(a, b) && sites_.level(a).level->size == sites_.level(b).level->size);
    };
    const NestLevel &produce_now = sites_.level(now.produce);
    const NestLevel &produce_before = sites_.level(before.produce);
    if (produce_now.tasks != produce_before.tasks ||
        produce_now.outer_parallelism != produce_before.outer_parallelism) {
        return false;
    }
    if (node_now.compute == 0 && (produce_now.level->parallel != produce_before.level->parallel ||
                                  !is_same_level(now.produce, before.produce))) {
        return false;
    }
    if (!is_same_level(now.innermost, before.innermost)) return false;
    const int parent_now = sites_.level(now.innermost).parent;
    const int parent_before = sites_.level(before.innermost).parent;
    if (!is_same_level(parent_now, parent_before)) return false;
    const int around_now = sites_.level(parent_now).parent;
    const int around_before = sites_.level(parent_before).parent;
    return around_now < 0 || around_before < 0
               ? around_now == around_before
               : sites_.level(around_now).level->regions == sites_.level(around_before).level->regions;
}

void NestTable::add_own_row(int stage, const FeatureRow &row) {
    own_rows_.insert(stage);
    childs_rows_[static_cast<size_t>(stage)] = row;
}

void NestTable::fill_childs_rows() {
    const auto fill = [&](int stage) {
        if (!own_rows_.contains(stage)) add_own_row(stage, realized_row(problem_.stages[static_cast<size_t>(stage)]));
    };
    for (const int id : sites_.stages()) {
        const Stage &stage = problem_.stages[static_cast<size_t>(id)];
        if (sites_.of_node(stage.node).status == Status::Realized && !is_same_site(stage)) fill(id);
    }
    for (const int node : moved_) {
        for (const int reader : readers_[static_cast<size_t>(node)]) {
            fill(reader);
        }
    }
    for (const int id : sites_.stages()) {
        if (sites_.of_node(problem_.stages[static_cast<size_t>(id)].node).status != Status::Realized) continue;
        const double bytes = working_set(id);
        if (row(id)[feature::working_set] == bytes) continue;
        if (!own_rows_.contains(id)) add_own_row(id, row(id));
        childs_rows_[static_cast<size_t>(id)][feature::working_set] = bytes;
    }
}

// Of the Func that the child inlines, and of those for which something has changed at a leaf that they are inlined
// into.
void NestTable::fill_inlined_rows() {
    to_sum_.clear();
    newly_inlined_.clear();
    for (int position = sites_.begin(); position < sites_.end(); position++) {
        const Level &level = *sites_.level(position).level;
        if (level.inlined.empty()) continue;
        const bool is_same = is_same_site(problem_.stages[static_cast<size_t>(level.stage)]);
        for (const auto &[node, calls] : level.inlined) {
            const bool is_new = sites_.parents_of_node(node).status != Status::Inlined;
            if (is_new) newly_inlined_.push_back({position, calls});
            if (is_new || !is_same) to_sum_.insert(node);
        }
    }
    for (const int id : to_sum_.members()) {
        const Node &node = problem_.nodes[static_cast<size_t>(id)];
        const bool is_new = sites_.parents_of_node(id).status != Status::Inlined;
        add_own_row(node.first_stage, inlined_row(node, is_new ? newly_inlined_ : inlined_[static_cast<size_t>(id)]));
    }
}

FeatureRow NestTable::inlined_row(const Node &node, std::span<const InlinedAt> leaves) const {
    FeatureRow sum = features_.of_inlined(problem_.stages[static_cast<size_t>(node.first_stage)]);
    for (const InlinedAt &leaf : leaves) {
        const NestLevel &level = sites_.level(sites_.current(leaf.position));
        FeatureRows::add_calls(sum, level, leaf.calls, row(level.level->stage));
    }
    return sum;
}

const FeatureTable &NestTable::table() {
    table_.stages.assign(stages_.begin(), stages_.end());
    for (const int stage : stages_) {
        table_.rows[static_cast<size_t>(stage)] = complete_row(stage);
    }
    return table_;
}

FeatureRow NestTable::complete_row(int stage) const {
    FeatureRow complete = row(stage);
    const WorkingSets bytes = working_sets(stage);
    std::ranges::transform(bytes, complete.begin() + feature::working_set_at_task,
                           [](int64_t value) { return static_cast<double>(value); });
    return complete;
}

}  // namespace halidegym
