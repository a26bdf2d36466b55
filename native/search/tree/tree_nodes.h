#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "search/tree/arena.h"
#include "search/tree/tree_policy.h"

namespace halidegym {

// A node of a search tree: a plain record without its state. Forced decisions get no node: a child stands for its
// decision and all forced ones that follow.
template <typename Decision>
struct TreeNode {
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

    Decision decision{};      // of the parent
    uint32_t num_forced = 0;  // decisions after it that left no choice
    uint32_t parent = none;
    uint32_t first_child = none;
    uint32_t next_sibling = none;
    uint32_t num_children = 0;
    uint32_t num_exhausted = 0;  // of the children
    uint32_t num_decisions = 0;  // 0 until known
    // Where a policy chooses: how likely it takes this decision, and which of the parent's it prefers of those that
    // were not tried.
    double prior = 1;
    double untried_prior = 0;
    uint32_t untried = 0;
    bool exhausted = false;  // nothing is left to learn here
    bool complete = false;
    NodeStatistics statistics;
    // Of the simulations that began at this very node.
    double own_best_cost = std::numeric_limits<double>::infinity();
    uint64_t own_best = 0;
};

// The nodes of a search tree, at most a given number, and how they hang together.
template <typename Decision>
class TreeNodes {
public:
    using Node = TreeNode<Decision>;
    static constexpr uint32_t none = Node::none;

    // A tree of one node.
    explicit TreeNodes(uint32_t capacity) : nodes_(std::max(capacity, 2u)), root_(nodes_.add({})) {}

    Node &operator[](uint32_t index) { return nodes_[index]; }
    const Node &operator[](uint32_t index) const { return nodes_[index]; }
    uint32_t root() const { return root_; }
    uint32_t size() const { return nodes_.size(); }
    bool is_full() const { return nodes_.is_full(); }

    // There must be room for it.
    uint32_t add_child(uint32_t parent, Node child) {
        child.parent = parent;
        child.next_sibling = nodes_[parent].first_child;
        const uint32_t index = nodes_.add(std::move(child));
        nodes_[parent].first_child = index;
        nodes_[parent].num_children++;
        return index;
    }

    uint32_t find_child(uint32_t parent, const Decision &decision) const {
        uint32_t child = nodes_[parent].first_child;
        while (child != none && !(nodes_[child].decision == decision)) {
            child = nodes_[child].next_sibling;
        }
        return child;
    }

    // Nothing is left to learn at this node; nor is there at its parent, if that holds for all of its children.
    void mark_exhausted(uint32_t index) {
        if (std::exchange(nodes_[index].exhausted, true)) {
            return;
        }
        for (uint32_t at = nodes_[index].parent; at != none; at = nodes_[at].parent) {
            Node &node = nodes_[at];
            node.num_exhausted++;
            if (node.num_exhausted != node.num_decisions) {
                return;
            }
            node.exhausted = true;
        }
    }

    // A child of the root becomes the root with all that is below it, or, if there is none yet, a new node does.
    void move_root(uint32_t child, Node otherwise) {
        remove_tree(root_, child);
        root_ = child == none ? nodes_.add(std::move(otherwise)) : child;
        nodes_[root_].parent = none;
        nodes_[root_].next_sibling = none;
    }

private:
    // Removes a node and all below it, except for one of its children with what is below that.
    void remove_tree(uint32_t index, uint32_t kept) {
        std::vector<uint32_t> doomed{index};
        while (!doomed.empty()) {
            const uint32_t at = doomed.back();
            doomed.pop_back();
            for (uint32_t child = nodes_[at].first_child; child != none; child = nodes_[child].next_sibling) {
                if (child != kept) {
                    doomed.push_back(child);
                }
            }
            nodes_.remove(at);
        }
    }

    Arena<Node> nodes_;
    uint32_t root_;
};

}  // namespace halidegym
