#include "cost/block_history.h"

#include <algorithm>

namespace halidegym {

BlockHistory::BlockHistory(const Problem &problem)
    : placements_(problem.nodes.size()), moved_((problem.nodes.size() + 63) / 64), blocks_(problem.stages.size()) {
    for (Block &block : blocks_) {
        block.producers.resize(moved_.size());
    }
}

void BlockHistory::advance(const Level &root, const Sites &sites) {
    nest_++;
    std::fill(moved_.begin(), moved_.end(), 0);
    for (size_t node = 0; node < placements_.size(); node++) {
        const Placement now = placement(sites, static_cast<int>(node));
        if (now != placements_[node]) {
            placements_[node] = now;
            moved_[node / 64] |= uint64_t{1} << (node % 64);
        }
    }
    unchanged_.assign(sites.levels().size(), 0);
    int position = 1;
    for (const LevelRef &level : root.children) {
        Block &block = blocks_[static_cast<size_t>(level->stage)];
        const bool is_unchanged = block.level == level && block.nest + 1 == nest_ && !is_moved(block.producers);
        unchanged_[static_cast<size_t>(position)] = is_unchanged;
        if (is_unchanged) block.nest = nest_;
        if (block.level != level) block.level = level;
        position = sites.level(position).end;
    }
}

void BlockHistory::finish(int stage, std::span<const uint64_t> producers) {
    Block &block = blocks_[static_cast<size_t>(stage)];
    std::copy(producers.begin(), producers.end(), block.producers.begin());
    block.nest = nest_;
}

BlockHistory::Placement BlockHistory::placement(const Sites &sites, int node) const {
    const NodeSites &now = sites.of_node(node);
    if (now.status == NodeSites::Status::Inlined) return {.status = now.status};
    const auto level = [&](int position) { return position > 0 ? sites.level(position).level : nullptr; };
    return {now.status, now.storage_dim, level(now.compute), level(now.store)};
}

bool BlockHistory::is_moved(std::span<const uint64_t> nodes) const {
    for (size_t i = 0; i < nodes.size(); i++) {
        if ((nodes[i] & moved_[i]) != 0) return true;
    }
    return false;
}

}  // namespace halidegym
