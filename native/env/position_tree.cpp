#include "env/position_tree.h"

#include <algorithm>

namespace halidegym {

namespace {

constexpr size_t max_bytes = 16 << 20;  // of all trees of an owner
constexpr size_t max_trees = 16;

}  // namespace

PositionTree::PositionTree(SpaceRef space, double reference_cost, std::shared_ptr<std::atomic<size_t>> bytes_in_use)
    : space_(std::move(space)), reference_cost_(reference_cost),
      problem_rows_(std::make_shared<const ProblemRows>(*space_)), bytes_in_use_(std::move(bytes_in_use)) {}

PositionTree::~PositionTree() {
    *bytes_in_use_ -= bytes_;
}

const PositionTree::Node *PositionTree::offer(Slot &slot, Position &position) {
    if (!slot.is_met_.exchange(true, std::memory_order_relaxed) || *bytes_in_use_ >= max_bytes) {
        return nullptr;
    }
    position.shrink();
    auto node = std::make_unique<const Node>(std::move(position));
    const Node *other = nullptr;
    if (!slot.node_.compare_exchange_strong(other, node.get(), std::memory_order_acq_rel)) {
        return other;  // another thread was faster, with an equal position
    }
    const size_t bytes = node->bytes();
    bytes_ += bytes;
    *bytes_in_use_ += bytes;
    return node.release();
}

std::unique_ptr<Workbench> PositionTree::take_bench() {
    const std::scoped_lock lock(benches_mutex_);
    if (benches_.empty()) {
        return std::make_unique<Workbench>();
    }
    auto bench = std::move(benches_.back());
    benches_.pop_back();
    return bench;
}

void PositionTree::give_back(std::unique_ptr<Workbench> bench) {
    const std::scoped_lock lock(benches_mutex_);
    benches_.push_back(std::move(bench));
}

std::shared_ptr<PositionTree> PositionTrees::tree_of(const SpaceRef &space, double reference_cost) {
    const std::scoped_lock lock(mutex_);
    const auto known = std::ranges::find_if(
        trees_, [&](const auto &tree) { return tree->space() == space && tree->reference_cost() == reference_cost; });
    if (known != trees_.end()) {
        std::rotate(known, known + 1, trees_.end());
        return trees_.back();
    }
    if (trees_.size() == max_trees) {
        trees_.erase(trees_.begin());
    }
    trees_.push_back(std::make_shared<PositionTree>(space, reference_cost, bytes_in_use_));
    return trees_.back();
}

}  // namespace halidegym
