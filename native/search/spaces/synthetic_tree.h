#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/parameters.h"
#include "search/spaces/search_space.h"
#include "search/spaces/splitmix.h"

namespace halidegym {

struct SyntheticTreeOptions {
    int branching = 4;   // children of every inner node
    int depth = 8;       // of the leaves
    double delta = 100;  // spread of the leaves' costs
    uint64_t seed = 0;
};

inline void check(const SyntheticTreeOptions &options) {
    require_from_to("branching", options.branching, 1, 1 << 20);
    require_from_to("depth", options.depth, 1, 10000);
    require_range("delta", options.delta, options.delta >= 0 && std::isfinite(options.delta * options.delta),
                  "a number of at least 0 with a finite square");
}

// A random tree with the exact optimum known (Gao et al. 2022, "MB2FBS", section on synthetic trees): a node at depth d
// costs Uniform[0, d), a leaf Uniform[d + delta, d + delta^2), and a leaf's path cost is the sum along the path.
//
// Two things the paper leaves open. What a search compares: here the path cost, of partial paths too. Like the cost of
// a partial schedule it is what the decisions so far amount to; a priority that relates it to the best complete cost
// needs both in one unit; and only so do beams find near optima for delta = 0, as in the paper's Figure 6 (measured
// accuracy 0.99 and more; by node costs it is 0.76 for a beam of 256). And the leaves' interval where delta^2 < delta:
// here its bounds swap.
//
// Nothing is stored: a node's cost is a function of the seed and a hash of its path.
class SyntheticTree {
public:
    struct Node {
        uint64_t tree;  // hash of its parameters
        uint64_t path;  // of the decisions that lead here
        int depth;
        double cost;       // of this node alone
        double path_cost;  // of all nodes from the root to this one

        friend bool operator==(const Node &, const Node &) = default;
    };
    struct Optimum {
        double cost;
        std::vector<uint32_t> actions;
    };

    using State = Node;
    using Decision = uint32_t;

    class Children {
    public:
        Children(const SyntheticTree &tree, const Node &parent)
            : tree_(&tree), parent_(parent),
              decisions_(tree.is_complete(parent) ? std::span<const Decision>() : tree.decisions_) {}
        std::span<const Decision> decisions() const { return decisions_; }
        Node child(Decision decision) const { return tree_->apply(parent_, decision); }

    private:
        const SyntheticTree *tree_;
        Node parent_;
        std::span<const Decision> decisions_;
    };

    explicit SyntheticTree(const SyntheticTreeOptions &options)
        : options_(checked(options)), identity_(identity_of(options)) {
        decisions_.resize(static_cast<size_t>(options.branching));
        std::iota(decisions_.begin(), decisions_.end(), Decision{0});
    }

    const SyntheticTreeOptions &options() const { return options_; }

    Node root() const { return {identity_, SplitMix64(options_.seed)(), 0, 0, 0}; }
    bool has(const Node &node) const { return node.tree == identity_; }
    bool is_complete(const Node &node) const { return node.depth == options_.depth; }
    int depth(const Node &node) const { return node.depth; }
    int max_depth() const { return options_.depth; }
    Children children(const Node &node) const { return {*this, node}; }

    Node apply(const Node &parent, Decision decision) const {
        const uint64_t path = SplitMix64(parent.path + decision + 1)();
        const int depth = parent.depth + 1;
        const auto [low, high] = cost_range(depth);
        SplitMix64 random(path);
        const double uniform = draw_unit(random);
        const double cost = low + uniform * (high - low);
        return {parent.tree, path, depth, cost, parent.path_cost + cost};
    }

    bool inherits_cost(Decision) const { return false; }
    std::optional<double> cost(const Node &node) const { return node.path_cost; }
    // No two nodes resemble each other, however coarsely one looks.
    uint64_t hash(const Node &node, int) const { return node.path; }
    bool equal(const Node &a, const Node &b) const { return a == b; }

    // The leaf of the least path cost, by depth-first branch and bound, cheapest child first. `pause` is called at each
    // node, and may throw.
    Optimum optimum(const std::function<void()> &pause = [] {}) const {
        Optimum best{std::numeric_limits<double>::infinity(), {}};
        std::vector<uint32_t> actions;
        improve(root(), actions, best, pause);
        return best;
    }

private:
    static uint64_t identity_of(const SyntheticTreeOptions &options) {
        uint64_t identity = options.seed;
        for (const uint64_t parameter : {static_cast<uint64_t>(options.branching), static_cast<uint64_t>(options.depth),
                                         std::bit_cast<uint64_t>(options.delta)}) {
            identity = split_seed(identity, parameter);
        }
        return identity;
    }

    std::array<double, 2> cost_range(int depth) const {
        if (depth < options_.depth) {
            return {0, static_cast<double>(depth)};
        }
        const auto [low, high] = std::minmax({options_.delta, options_.delta * options_.delta});
        return {depth + low, depth + high};
    }

    // Every path that is not complete still has a leaf to pay for.
    double remaining_cost(const Node &node) const { return is_complete(node) ? 0 : cost_range(options_.depth).front(); }

    void improve(const Node &node, std::vector<uint32_t> &actions, Optimum &best,
                 const std::function<void()> &pause) const {
        pause();
        if (is_complete(node)) {
            if (node.path_cost < best.cost) {
                best = {node.path_cost, actions};
            }
            return;
        }
        std::vector<std::pair<Node, Decision>> next;
        for (const Decision decision : decisions_) {
            next.emplace_back(apply(node, decision), decision);
        }
        std::sort(next.begin(), next.end(),
                  [](const auto &a, const auto &b) { return a.first.path_cost < b.first.path_cost; });
        for (const auto &[child, decision] : next) {
            if (child.path_cost + remaining_cost(child) >= best.cost) {
                return;
            }
            actions.push_back(decision);
            improve(child, actions, best, pause);
            actions.pop_back();
        }
    }

    SyntheticTreeOptions options_;
    uint64_t identity_;
    std::vector<Decision> decisions_;
};

static_assert(SearchSpace<SyntheticTree>);

}  // namespace halidegym
