// What a space offers beyond the concept is taken, and without it planners find the same.

#include "search/spaces/optional_hooks.h"

#include "example_problem.h"
#include "search/spaces/schedule_space.h"
#include "search/spaces/synthetic_tree.h"
#include "search/spaces/walk.h"
#include "search/tree/mcts.h"

using namespace halidegym;

namespace {

// Offers everything, and counts how often it is asked.
class Helpful : public SyntheticTree {
public:
    using SyntheticTree::SyntheticTree;

    template <typename Random>
    std::optional<Decision> random_decision(Children &children, Random &random) {
        asked->draws++;
        SyntheticTree &plain = *this;
        return halidegym::random_decision(plain, children, random);
    }
    template <typename Random>
    void choose_how_to_draw(Random &) {
        asked->choices++;
    }
    bool is_legal(Children &children, Decision decision) {
        asked->legality++;
        return decision < children.decisions().size();
    }
    void start_walk(const Node &) { asked->walks++; }
    Children children_of_walk(const Node &node) { return children(node); }
    Node next_of_walk(Node &&, Children &children, Decision decision) { return children.child(decision); }
    std::optional<Decision> only_decision(const Node &node) {
        asked->forced++;
        return children(node).decisions().size() == 1 ? std::optional(Decision{0}) : std::nullopt;
    }
    std::vector<std::optional<double>> costs(const std::vector<const Node *> &nodes) {
        asked->batches++;
        std::vector<std::optional<double>> costs;
        for (const Node *node : nodes) {
            costs.push_back(cost(*node));
        }
        return costs;
    }

    struct Asked {
        int draws = 0, choices = 0, legality = 0, walks = 0, forced = 0, batches = 0;
    };
    std::shared_ptr<Asked> asked = std::make_shared<Asked>();  // of all copies
};

static_assert(DrawsDecisions<Helpful> && ChoosesHowToDraw<Helpful> && KnowsLegality<Helpful> && BuildsWalks<Helpful> &&
              KnowsForcedDecisions<Helpful> && RatesBatches<Helpful>);
static_assert(!DrawsDecisions<SyntheticTree> && !ChoosesHowToDraw<SyntheticTree> && !KnowsLegality<SyntheticTree> &&
              !BuildsWalks<SyntheticTree> && !KnowsForcedDecisions<SyntheticTree> && !RatesBatches<SyntheticTree>);

// Names that are right with types that are wrong.
class Mistaken : public SyntheticTree {
public:
    using SyntheticTree::SyntheticTree;
    template <typename Random>
    Decision random_decision(Children &, Random &) {
        return 0;
    }
    std::optional<Node> is_legal(Children &, Decision) { return std::nullopt; }
    void start_walk(const Node &) {}
    Children children_of_walk(const Node &node) { return children(node); }
    Decision only_decision(const Node &) { return 0; }
    std::vector<double> costs(const std::vector<const Node *> &) { return {}; }
};

static_assert(!DrawsDecisions<Mistaken> && !KnowsLegality<Mistaken> && !BuildsWalks<Mistaken> &&
              !KnowsForcedDecisions<Mistaken> && !RatesBatches<Mistaken>);

void test_hooks_are_used_and_change_nothing() {
    const SyntheticTreeOptions shape{.branching = 3, .depth = 6, .delta = 10, .seed = 1};
    MctsOptions options;
    options.iterations = 50;
    options.deviations = 1;
    const Helpful helpful(shape);
    const SyntheticTree plain(shape);
    const auto ours = Mcts<Helpful>(helpful, options, Budget{}).run();
    const auto theirs = Mcts<SyntheticTree>(plain, options, Budget{}).run();
    expect("equal decisions", ours.solutions.front().actions == theirs.solutions.front().actions);
    expect_equal("equal counts", ours.evaluations, theirs.evaluations);
    const Helpful::Asked &asked = *helpful.asked;
    expect("all are used", asked.draws > 0 && asked.choices > 0 && asked.legality > 0 && asked.walks > 0 &&
                               asked.forced > 0 && asked.batches > 0);
}

void test_trace() {
    const SyntheticTree tree({.branching = 3, .depth = 4, .delta = 10, .seed = 2});
    const std::vector<uint32_t> actions{2, 0, 1, 2};
    const auto decisions = decisions_of(tree, tree.root(), actions);
    const auto traced = trace(tree, tree.root(), decisions);
    expect("there and back", traced.actions == actions && traced.num_choices == 4);
    expect("the end", tree.is_complete(traced.end));
    const SyntheticTree path({.branching = 1, .depth = 4, .delta = 10, .seed = 2});
    expect_equal("no choice", trace(path, path.root(), std::vector<uint32_t>(4)).num_choices, 0);
    expect_equal("forced all the way", follow_forced(path, path.root()).decisions.size(), 4u);
}

}  // namespace

int main() {
    test_hooks_are_used_and_change_nothing();
    test_trace();
    return failures == 0 ? 0 : 1;
}
