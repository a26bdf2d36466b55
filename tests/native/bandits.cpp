// TAG and UCT (docs/specification/papers.md, section 3): the bandits against values worked out by hand, and the growth
// of the graph.

#include <cmath>
#include <map>
#include <random>

#include "example_problem.h"
#include "search/graph/tag.h"
#include "search/graph/uct.h"
#include "search/spaces/schedule_space.h"
#include "search/spaces/synthetic_tree.h"

using namespace halidegym;

namespace {

template <typename Rewards>
Rewards rewards_of(Rewards rewards, std::initializer_list<double> costs) {
    for (const double cost : costs) {
        rewards.add(cost);
    }
    return rewards;
}

void expect_near(const std::string &what, double value, double expected) {
    expect(what, std::abs(value - expected) <= 1e-12 * std::abs(expected));
}

// alpha = ln(2 * 30 * 4 / 0.01) = ln 24000 = 10.0858...
void test_threshold_ascent_weight() {
    const ThresholdAscent bandit(100, 0.01);
    expect_near("h(3, 10)", bandit.weight(3, 10, 30, 4), 2.582309296601735);
    expect_near("h(0, 10) is 2 alpha / n", bandit.weight(0, 10, 30, 4), 2.0171618218660163);
    expect("h(s, 0)", std::isinf(bandit.weight(0, 0, 30, 4)));
}

void test_threshold_ascent_choice() {
    const ThresholdAscent two_best(2, 0.1);
    const auto arm = [&](std::initializer_list<double> costs) { return rewards_of(two_best.no_rewards(), costs); };
    const auto choose = [&](const auto &a, const auto &b) {
        const std::vector<const ThresholdAscent::Rewards *> arms{&a, &b};
        return two_best.choose(arms);
    };
    expect_equal("both best are the second's", choose(arm({3, 4, 5, 6}), arm({1, 2, 7, 8})), 1u);
    expect_equal("only the two best count", choose(arm({1, 2, 90, 90}), arm({3, 4, 5, 6})), 0u);
    expect_equal("one each: the less tried one", choose(arm({1, 50, 60}), arm({2, 70})), 1u);
    expect_equal("the best single one, not the mean", choose(arm({1, 2, 900, 900}), arm({3, 3, 3, 3})), 0u);
    const double infinity = std::numeric_limits<double>::infinity();
    expect_equal("dead ends are no rewards, but count", choose(arm({infinity}), arm({5})), 1u);
}

void test_rewards_are_added_up() {
    ThresholdAscent::Rewards a(3), b(3);
    for (const double cost : {5, 1, 9, 7}) {
        a.add(cost);
    }
    for (const double cost : {6, 2}) {
        b.add(cost);
    }
    a.add(b);
    expect_equal("count", a.count(), 6);
    expect("lowest", std::ranges::equal(a.lowest_costs(), std::vector<double>{1, 2, 5}));
}

// Rewards relative to the best, 1 / 2: means 0.75 and 0.5, four and one of five.
void test_upper_confidence_bound() {
    const auto choose = [](double exploration) {
        const UpperConfidenceBound bandit(exploration);
        const auto a = rewards_of(bandit.no_rewards(), {2, 4, 2, 4}), b = rewards_of(bandit.no_rewards(), {4});
        const std::vector<const UpperConfidenceBound::Rewards *> arms{&a, &b};
        return bandit.choose(arms);
    };
    // The second's radius is greater by sqrt(ln 5) / 2 = 0.634 times the exploration, its mean less by 0.25.
    expect_equal("little exploration", choose(0.39), 0u);
    expect_equal("more exploration", choose(0.40), 1u);
}

// A synthetic tree that counts how often each node is built by `apply`, which is how the search follows an arrow.
class CountingTree : public SyntheticTree {
public:
    using SyntheticTree::SyntheticTree;
    Node apply(const Node &parent, Decision decision) {
        const Node child = SyntheticTree::apply(parent, decision);
        visits[child.path]++;
        return child;
    }
    std::map<uint64_t, int> visits;
};

void test_every_arrow_is_followed_once() {
    for (const uint64_t seed : {0, 1, 2}) {
        for (const bool merge : {true, false}) {
            CountingTree tree({.branching = 3, .depth = 5, .delta = 10, .seed = seed});
            const auto tag = tag_search(tree, {.graph = {merge, 0}}, Budget{});
            expect_equal("TAG follows all arrows", tree.visits.size(), 3u + 9 + 27 + 81 + 243);
            expect("and each once",
                   std::ranges::all_of(tree.visits, [](const auto &node) { return node.second == 1; }));
            expect("the search ends by itself", tag.ended_by == EndedBy::Finished);
            expect_equal("it knows the optimum", tag.solutions.front().cost, tree.optimum().cost);
            expect("and the way there", tag.solutions.front().actions == tree.optimum().actions);
            const auto uct = uct_search(tree, {.graph = {merge, 0}}, Budget{});
            expect_equal("so does UCT", uct.solutions.front().cost, tree.optimum().cost);
        }
    }
}

// Ways through a grid of streets: from a corner, along either axis, until both ends are reached. Equal places are one
// vertex, however they were reached, and the cost depends on the place only.
class Grid {
public:
    struct State {
        int x, y;
        friend bool operator==(const State &, const State &) = default;
    };
    using Decision = int;
    struct Children {
        State parent;
        std::vector<Decision> axes;
        std::span<const Decision> decisions() const { return axes; }
        State child(Decision axis) const {
            return axis == 0 ? State{parent.x + 1, parent.y} : State{parent.x, parent.y + 1};
        }
    };

    State root() const { return {0, 0}; }
    bool is_complete(const State &state) const { return state.x + state.y == length; }
    int depth(const State &state) const { return state.x + state.y; }
    int max_depth() const { return length; }
    Children children(const State &state) const { return {state, {0, 1}}; }
    State apply(const State &state, Decision axis) const { return children(state).child(axis); }
    bool inherits_cost(Decision) const { return false; }
    std::optional<double> cost(const State &state) const { return 1 + (state.x * 7) % 5; }
    uint64_t hash(const State &state, int) const { return static_cast<uint64_t>(state.x); }
    bool equal(const State &a, const State &b) const { return a == b; }

    static constexpr int length = 6;
};
static_assert(SearchSpace<Grid>);

void test_transpositions() {
    Grid grid;
    const auto graph = tag_search(grid, {}, Budget{});
    expect_equal("inner vertices of the graph", graph.expansions, 1 + 2 + 3 + 4 + 5 + 6);
    expect_equal("each vertex is evaluated once", graph.evaluations, 1 + 2 + 3 + 4 + 5 + 6 + 7);
    const auto tree = tag_search(grid, {.graph = {.merge = false}}, Budget{});
    expect_equal("inner vertices of the tree", tree.expansions, 63);
    expect_equal("evaluations in the tree", tree.evaluations, 127);
    expect_equal("equal optima", graph.solutions.front().cost, tree.solutions.front().cost);
    expect_equal("inner vertices of UCT's graph", uct_search(grid, {.graph = {.merge = true}}, Budget{}).expansions,
                 21);
    expect_equal("inner vertices of UCT's tree", uct_search(grid, {.graph = {.merge = false}}, Budget{}).expansions,
                 63);
}

// Two walks by equal decisions make equal nests that share nothing; siblings differ, whatever their hashes.
void test_equal_schedules() {
    const auto space = std::make_shared<const Space>(std::make_shared<const Problem>(blur_problem(4, 8)), nullptr);
    ScheduleSpace schedules(space);
    std::mt19937 random(0);
    for (int walk = 0; walk < 5; walk++) {
        State a = schedules.root(), b = ScheduleSpace(space).root();
        while (!a.is_complete()) {
            auto children = schedules.children(a);
            const auto decisions = children.decisions();
            std::vector<State> siblings;
            for (const Decision &decision : decisions) {
                siblings.push_back(children.child(decision));
            }
            const size_t chosen = std::uniform_int_distribution<size_t>(0, decisions.size() - 1)(random);
            b = schedules.apply(b, decisions[chosen]);
            const auto equal =
                std::ranges::count_if(siblings, [&](const State &sibling) { return schedules.equal(sibling, b); });
            a = siblings[chosen];
            expect("equal decisions", schedules.equal(a, b) && a.hash(100) == b.hash(100));
            expect_equal("all siblings differ", equal, 1);
        }
        expect("another number of decisions", !schedules.equal(a, schedules.root()));
    }
}

}  // namespace

int main() {
    test_threshold_ascent_weight();
    test_threshold_ascent_choice();
    test_rewards_are_added_up();
    test_upper_confidence_bound();
    test_every_arrow_is_followed_once();
    test_transpositions();
    test_equal_schedules();
    return failures == 0 ? 0 : 1;
}
