#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "env/position.h"

namespace halidegym {

// The positions that the episodes of one space come through again and again, found by the actions that lead to them:
// the first ones of any pipeline, and all of a small one. Threads share these without locks; positions stay until the
// tree goes.
//
// A position is kept when it is met for the second time, since most that a random episode meets are never met again.
class PositionTree {
public:
    class Node;

    // Where the position that an action leads to has its place.
    class Slot {
    public:
        Slot() = default;
        ~Slot();
        Slot(const Slot &) = delete;
        Slot &operator=(const Slot &) = delete;

        // Null if it is not kept.
        const Node *node() const { return node_.load(std::memory_order_acquire); }

    private:
        friend class PositionTree;
        std::atomic<const Node *> node_ = nullptr;
        std::atomic<bool> is_met_ = false;
    };

    class Node {
    public:
        explicit Node(Position position)
            : position_(std::move(position)), children_(std::make_unique<Slot[]>(position_.presented.size())) {}

        const Position &position() const { return position_; }
        Slot &child(size_t action) const { return children_[action]; }
        size_t bytes() const { return sizeof(Node) + position_.bytes() + position_.presented.size() * sizeof(Slot); }

    private:
        Position position_;
        std::unique_ptr<Slot[]> children_;
    };

    // `bytes_in_use` counts what all trees of an owner keep.
    PositionTree(SpaceRef space, double reference_cost, std::shared_ptr<std::atomic<size_t>> bytes_in_use);
    ~PositionTree();
    PositionTree(const PositionTree &) = delete;
    PositionTree &operator=(const PositionTree &) = delete;

    const SpaceRef &space() const { return space_; }
    // What the costs that its positions tell are relative to.
    double reference_cost() const { return reference_cost_; }
    const std::shared_ptr<const ProblemRows> &problem_rows() const { return problem_rows_; }
    // Of the state in which nothing is decided.
    Slot &root() { return root_; }

    // The position's node from now on; null if it is met for the first time or there is no room, which leaves the
    // position as it is.
    const Node *offer(Slot &slot, Position &position);

private:
    SpaceRef space_;
    double reference_cost_;
    std::shared_ptr<const ProblemRows> problem_rows_;
    std::shared_ptr<std::atomic<size_t>> bytes_in_use_;
    std::atomic<size_t> bytes_ = 0;  // of them, this tree's
    Slot root_;
};

inline PositionTree::Slot::~Slot() {
    delete node();
}

// The trees of the spaces that were asked for last, for environments that share them.
class PositionTrees {
public:
    std::shared_ptr<PositionTree> tree_of(const SpaceRef &space, double reference_cost);

    // Working memory for states of any space. The one given back last is the next one taken, so that threads that step
    // many environments stay within their caches.
    std::unique_ptr<Workbench> take_bench();
    void give_back(std::unique_ptr<Workbench> bench);

private:
    using Key = std::pair<const Space *, double>;  // a tree keeps its space
    using Trees = std::list<std::shared_ptr<PositionTree>>;

    // Those whose spaces nobody else has, positions of theirs included: nobody can ask for them again. So problems that
    // are drawn once leave nothing behind.
    void drop_unused();
    Trees::iterator drop(Trees::iterator tree);

    std::mutex mutex_;
    std::shared_ptr<std::atomic<size_t>> bytes_in_use_ = std::make_shared<std::atomic<size_t>>(0);
    std::vector<std::unique_ptr<Workbench>> benches_;
    Trees trees_;  // the one asked for last at the end
    std::map<Key, Trees::iterator> by_key_;
};

}  // namespace halidegym
