// MB2FBS on random trees: what Gao et al. 2022 prove or claim of it (Theorem 1, Proposition 1, Table 1).

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "example_problem.h"
#include "search/beam_search.h"
#include "search/mb2fbs.h"
#include "search/spaces/synthetic_tree.h"

using namespace halidegym;

namespace {

constexpr int64_t unlimited = Mb2fbsOptions::unlimited;

// Notes which nodes are expanded.
class WatchedTree : public SyntheticTree {
public:
    using SyntheticTree::SyntheticTree;

    Children children(const Node &node) {
        expanded.push_back(node);
        return SyntheticTree::children(node);
    }
    Children unlisted_children(const Node &node) const { return SyntheticTree::children(node); }
    std::vector<uint64_t> paths() const {
        std::vector<uint64_t> result;
        for (const Node &node : expanded) {
            result.push_back(node.path);
        }
        return result;
    }

    std::vector<Node> expanded;
};

Mb2fbsResult<SyntheticTree::Node> search(SyntheticTree tree, Mb2fbsOptions options) {
    return Mb2fbs(tree, std::move(options), Budget{}).run();
}

Mb2fbsOptions one_pass(int64_t beta1, int64_t beta2, int64_t beta, int64_t memory = unlimited) {
    return {.beta1 = beta1, .beta2 = beta2, .beta = beta, .memory = memory, .passes = 1, .priority = cost_priority};
}

int64_t total(const std::vector<int64_t> &counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

// Trees of all shapes; leaves cost about as much as the way to them or much more.
std::vector<SyntheticTreeOptions> random_trees(int count) {
    std::mt19937 random(0);
    std::vector<SyntheticTreeOptions> trees;
    for (int i = 0; i < count; i++) {
        const int branching = 1 + static_cast<int>(random() % 5);
        const int depth = 1 + static_cast<int>(random() % 6);
        trees.push_back({branching, depth, i % 3 == 0 ? 0.0 : i % 3 == 1 ? 1.5 : 10.0, random()});
    }
    return trees;
}

// Against a sorted set that forgets its worst element.
void test_bounded_queue() {
    std::mt19937 random(0);
    for (size_t capacity = 0; capacity < 40; capacity++) {
        BoundedQueue<int, std::less<int>> queue(capacity);
        std::multiset<int> expected;
        bool equal = true;
        for (int step = 0; step < 500; step++) {
            if (random() % 3 != 0 || expected.empty()) {
                const int value = static_cast<int>(random() % 50);
                queue.push(value);
                expected.insert(value);
                if (expected.size() > capacity) {
                    expected.erase(std::prev(expected.end()));
                }
            } else {
                equal = equal && queue.worst() == *expected.rbegin() && queue.best() == *expected.begin();
                equal = equal && queue.pop() == *expected.begin();
                expected.erase(expected.begin());
            }
            equal = equal && queue.size() == expected.size();
        }
        BoundedQueue<int, std::less<int>> other(capacity);
        for (const int value : {7, 3, 11}) {
            other.push(value);
            expected.insert(value);
        }
        while (expected.size() > capacity) {
            expected.erase(std::prev(expected.end()));
        }
        queue.absorb(std::move(other));
        for (const int value : expected) {
            equal = equal && queue.pop() == value;
        }
        expect("bounded queue of " + std::to_string(capacity), equal && queue.empty());
    }
}

// Theorem 1 and the row "standard beam search": the same states are expanded in the same order.
void test_beam_preset_equals_beam_search() {
    for (const auto &options : random_trees(60)) {
        for (const int beta : {1, 2, 3, 7, 100}) {
            WatchedTree beam_tree(options), tree(options);
            const auto beam =
                BeamSearch<WatchedTree>(beam_tree, {.beam_size = beta, .passes = 1}, Budget{}).run().solutions.front();
            const auto ours = Mb2fbs<WatchedTree>(tree, one_pass(beta, 0, beta, beta), Budget{}).run();
            expect("steps of the beam", tree.paths() == beam_tree.paths());
            expect("result of the beam", ours.solutions.front().cost == beam.cost);
            // Theorem 1 itself: batches of beta from a queue of size beta.
            WatchedTree batched(options);
            Mb2fbs<WatchedTree>(batched, one_pass(beta, 0, unlimited, beta), Budget{}).run();
            expect("Theorem 1", batched.paths() == beam_tree.paths());
        }
    }
}

void test_exact_presets_find_the_optimum() {
    for (const auto &options : random_trees(60)) {
        const SyntheticTree tree(options);
        const auto optimum = tree.optimum();
        const auto breadth_first = search(tree, one_pass(unlimited, 0, unlimited));
        expect("breadth-first search finds the optimum", breadth_first.solutions.front().actions == optimum.actions);
        int64_t width = 1;
        for (const int64_t count : breadth_first.passes[0].expansions) {
            expect_equal("breadth-first search expands all", count, width);
            width *= options.branching;
        }

        const auto best_first = search(tree, one_pass(1, unlimited, unlimited));
        expect("best-first search finds the optimum", best_first.solutions.front().cost == optimum.cost);
        expect_equal("best-first search expands all", best_first.expansions, breadth_first.expansions);

        // With an estimate that never overestimates, the first complete state is the optimum. So it is without one.
        const double leaf = options.depth + std::min(options.delta, options.delta * options.delta);
        auto a_star = one_pass(1, unlimited, unlimited);
        a_star.stop_at_complete = true;
        const auto uninformed = search(tree, a_star);
        a_star.priority = [&](double cost, int depth, const Mb2fbsAim &) {
            return -(depth < options.depth ? cost + leaf : cost);
        };
        const auto informed = search(tree, a_star);
        expect("uniform-cost search finds the optimum", uninformed.solutions.front().cost == optimum.cost);
        expect("A* finds the optimum", informed.solutions.front().cost == optimum.cost);
        expect("the estimate saves expansions", informed.expansions <= uninformed.expansions);
        // So does the best-first beam that keeps enough.
        const auto best_first_beam = search(tree, one_pass(1, 100000, 100001));
        expect("a wide best-first beam finds the optimum", best_first_beam.solutions.front().cost == optimum.cost);
    }
}

void test_greedy_preset() {
    for (const auto &options : random_trees(60)) {
        SyntheticTree tree(options);
        const auto result = search(tree, one_pass(1, 0, 1, 1));
        auto node = tree.root();
        std::vector<uint32_t> actions;
        while (!tree.is_complete(node)) {
            uint32_t best = 0;
            for (uint32_t action = 1; action < static_cast<uint32_t>(options.branching); action++) {
                best = tree.apply(node, action).path_cost < tree.apply(node, best).path_cost ? action : best;
            }
            node = tree.apply(node, best);
            actions.push_back(best);
        }
        expect("greedy search follows the cheapest child", result.solutions.front().actions == actions);
        expect_equal("greedy search expands one a depth", result.expansions, int64_t{options.depth});
    }
}

// Algorithm 1: one state at a time from a queue of size M, of which the worst are dropped.
void test_memory_bounded_best_first_preset() {
    for (const auto &options : random_trees(60)) {
        for (const size_t memory : {2u, 3u, 10u}) {
            WatchedTree tree(options);
            const auto result =
                Mb2fbs<WatchedTree>(tree, one_pass(1, unlimited, unlimited, static_cast<int64_t>(memory)), Budget{})
                    .run();
            std::vector<uint64_t> expected;
            double best = std::numeric_limits<double>::infinity();
            std::vector<SyntheticTree::Node> queue{tree.root()};
            while (!queue.empty()) {
                const auto node = queue.front();
                queue.erase(queue.begin());
                if (tree.is_complete(node)) {
                    best = std::min(best, node.path_cost);
                    continue;
                }
                expected.push_back(node.path);
                for (const uint32_t action : tree.SyntheticTree::children(node).decisions()) {
                    queue.push_back(tree.apply(node, action));
                }
                std::sort(queue.begin(), queue.end(),
                          [](const auto &a, const auto &b) { return a.path_cost < b.path_cost; });
                queue.resize(std::min(queue.size(), memory));
            }
            expect("Algorithm 1, steps", tree.paths() == expected);
            expect("Algorithm 1, result", result.solutions.front().cost == best);
        }
    }
}

// "The controlled version never expands more than a beam", at no depth.
void test_controlled_expansions() {
    for (const auto &options : random_trees(60)) {
        SyntheticTree tree(options);
        for (const int beta : {2, 4, 9}) {
            const auto beam = BeamSearch(tree, {.beam_size = beta, .passes = 1}, Budget{}).run();
            for (const int64_t beta2 : {int64_t{1}, int64_t{beta} / 2, int64_t{beta} - 1}) {
                const auto ours = search(tree, one_pass(beta - beta2, beta2, beta, int64_t{beta} * options.depth));
                expect("controlled, in total", total(ours.passes[0].expansions) <= beam.expansions);
                expect("controlled, by depth",
                       *std::max_element(ours.passes[0].expansions.begin(), ours.passes[0].expansions.end()) <= beta);
            }
        }
    }
}

// Proposition 1, for M = beta1 + beta2.
void test_uncontrolled_expansions() {
    for (const auto &options : random_trees(60)) {
        for (const int64_t beta1 : {1, 3, 8}) {
            for (const int64_t beta2 : {1, 3, 20}) {
                const auto ours = search(SyntheticTree(options), one_pass(beta1, beta2, unlimited, beta1 + beta2));
                const int64_t depth = options.depth;
                const int64_t bound = beta1 * ((beta2 + beta1 - 1) / beta1) * depth * (depth + 1) / 2;
                expect("Proposition 1", ours.expansions <= bound);
                // "Any M > beta1 + beta2 is equivalent."
                expect_equal("unlimited memory",
                             search(SyntheticTree(options), one_pass(beta1, beta2, unlimited)).expansions,
                             ours.expansions);
                expect_equal("expansions by depth add up", total(ours.passes[0].expansions), ours.expansions);
            }
        }
    }
}

void test_depth_and_cost_priority() {
    const Mb2fbsAim aim{.cost = 10, .depth = 17};
    expect("a good state is better deeper", depth_and_cost_priority(4, 6, aim) > depth_and_cost_priority(4, 5, aim));
    expect("and a bad one worse", depth_and_cost_priority(40, 6, aim) < depth_and_cost_priority(40, 5, aim));
    expect_equal("its value", depth_and_cost_priority(4, 5, aim), 0.5);
}

void test_too_little_memory_is_refused() {
    const auto refused = [](const Mb2fbsOptions &options) {
        try {
            search(SyntheticTree({.branching = 4, .depth = 8, .delta = 10, .seed = 0}), options);
            return false;
        } catch (const InvalidParameter &error) {
            return std::string(error.what()).find("memory=") == 0;
        }
    };
    expect("controlled", refused(one_pass(28, 4, 32, 255)) && !refused(one_pass(28, 4, 32, 256)));
    expect("uncontrolled", refused(one_pass(30, 2, unlimited, 31)) && !refused(one_pass(30, 2, unlimited, 32)));
    expect("beam", refused(one_pass(32, 0, 32, 31)) && !refused(one_pass(32, 0, 32, 32)));
    expect("best-first",
           refused(one_pass(1, unlimited, unlimited, 1)) && !refused(one_pass(1, unlimited, unlimited, 2)));
}

}  // namespace

int main() {
    test_bounded_queue();
    test_beam_preset_equals_beam_search();
    test_exact_presets_find_the_optimum();
    test_greedy_preset();
    test_memory_bounded_best_first_preset();
    test_controlled_expansions();
    test_uncontrolled_expansions();
    test_depth_and_cost_priority();
    test_too_little_memory_is_refused();
    return failures == 0 ? 0 : 1;
}
