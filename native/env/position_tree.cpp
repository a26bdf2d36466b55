#include "env/position_tree.h"

#include <iterator>

namespace halidegym {

namespace {

constexpr size_t max_bytes = 16 << 20;  // of all trees of an owner
constexpr size_t max_trees = 1024;      // whose first positions are kept even beyond these

}  // namespace

PositionTree::PositionTree(SpaceRef space, double reference_cost, std::shared_ptr<std::atomic<size_t>> bytes_in_use)
    : space_(std::move(space)), reference_cost_(reference_cost),
      problem_rows_(std::make_shared<const ProblemRows>(*space_)), bytes_in_use_(std::move(bytes_in_use)) {}

PositionTree::~PositionTree() {
    *bytes_in_use_ -= bytes_;
}

const PositionTree::Node *PositionTree::offer(Slot &slot, Position &position) {
    if (!slot.is_met_.exchange(true, std::memory_order_relaxed) || (*bytes_in_use_ >= max_bytes && &slot != &root_)) {
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

std::shared_ptr<PositionTree> PositionTrees::tree_of(const SpaceRef &space, double reference_cost) {
    const std::scoped_lock lock(mutex_);
    const Key key(space.get(), reference_cost);
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
        trees_.splice(trees_.end(), trees_, known->second);
    } else {
        drop_unused();
        if (trees_.size() == max_trees) {
            drop(trees_.begin());
        }
        trees_.push_back(std::make_shared<PositionTree>(space, reference_cost, bytes_in_use_));
        by_key_.emplace(key, std::prev(trees_.end()));
    }
    return trees_.back();
}

void PositionTrees::drop_unused() {
    for (auto tree = trees_.begin(); tree != trees_.end();) {
        const bool is_unused = tree->use_count() == 1 && (*tree)->space().use_count() == 1;
        tree = is_unused ? drop(tree) : std::next(tree);
    }
}

PositionTrees::Trees::iterator PositionTrees::drop(Trees::iterator tree) {
    by_key_.erase({(*tree)->space().get(), (*tree)->reference_cost()});
    return trees_.erase(tree);
}

std::unique_ptr<Workbench> PositionTrees::take_bench() {
    const std::scoped_lock lock(mutex_);
    if (benches_.empty()) {
        return std::make_unique<Workbench>();
    }
    auto bench = std::move(benches_.back());
    benches_.pop_back();
    return bench;
}

void PositionTrees::give_back(std::unique_ptr<Workbench> bench) {
    const std::scoped_lock lock(mutex_);
    benches_.push_back(std::move(bench));
}

}  // namespace halidegym
