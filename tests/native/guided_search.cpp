// Searches that go by a policy: PUCT, a Gumbel root, a beam that is guided by simulations, and rollouts.

#include <cmath>
#include <map>

#include "example_problem.h"
#include "search/rollout_search.h"
#include "search/sgbs.h"
#include "search/spaces/synthetic_tree.h"
#include "search/tree/gumbel_root.h"
#include "search/tree/mcts.h"

using namespace halidegym;

namespace {

// A tree in which each decision is liked half as much as the one before.
class Opinionated : public SyntheticTree {
public:
    using SyntheticTree::SyntheticTree;

    std::vector<Preference<Decision>> preferences(const Node &node) {
        (*asked)++;
        std::vector<Preference<Decision>> preferences;
        for (const Decision decision : children(node).decisions()) {
            preferences.push_back({decision, -std::log(2.0) * (decision + 1.0)});
        }
        return preferences;
    }

    std::shared_ptr<int> asked = std::make_shared<int>(0);  // of all copies
};

static_assert(PrefersDecisions<Opinionated> && !PrefersDecisions<SyntheticTree>);

const SyntheticTreeOptions small{.branching = 4, .depth = 4, .seed = 3};

SearchTree<Opinionated> grown(Opinionated &space, const TreePolicy &policy, int iterations) {
    TreeOptions options;
    options.policy = policy;
    SearchTree<Opinionated> tree(options, space.root());
    for (int i = 0; i < iterations && !tree.is_exhausted(); i++) {
        auto iteration = tree.begin_iteration(space, [](auto...) { return true; });
        tree.finish_iteration(space, iteration, space.cost(*iteration.simulation.end));
    }
    return tree;
}

// With all weight on the policy, visits are in proportion to its probabilities; with none of it, they are not.
void test_puct_visits_what_the_policy_likes() {
    Opinionated space({.branching = 4, .depth = 12, .seed = 1});
    TreePolicy policy{.value = TreePolicy::Value::BestCost, .bonus = TreePolicy::Bonus::Prior, .normalized = true};
    policy.exploration = 1e6;
    std::map<uint32_t, uint32_t> visits;
    const auto tree = grown(space, policy, 1500);
    for (const auto &child : tree.root_children()) {
        visits[child.decision] = child.statistics.visits;
    }
    for (uint32_t decision = 0; decision < 4; decision++) {
        const double share = std::pow(0.5, decision + 1.0) / (1 - std::pow(0.5, 4.0));
        expect("in proportion", std::abs(visits[decision] / 1500.0 - share) < 0.01);
    }
    expect("preferences are asked for when something is new", *space.asked <= 2 * 1500);
    policy.exploration = 0;
    const auto greedy = grown(space, policy, 1500);
    uint32_t most = 0;
    for (const auto &child : greedy.root_children()) {
        most = std::max(most, child.statistics.visits);
    }
    expect("by the values alone", most > 1400);
}

void test_puct_formula() {
    NodeStatistics parent;
    NodeStatistics child;
    for (const double cost : {2.0, 4.0, 4.0, 8.0}) {
        parent.add(cost, false);
    }
    child.add(4, false);
    const TreePolicy policy{
        .value = TreePolicy::Value::BestCost, .bonus = TreePolicy::Bonus::Prior, .exploration = 3, .normalized = true};
    const double exploration = policy.exploration_at(parent, 0);
    expect_equal("exploration", exploration, 6.0);
    expect_equal("a child", policy.score(child, exploration, 2, 0.25), 0.5 + 6 * 0.25 / 2);
    expect_equal("none yet", policy.score_untried(parent, exploration, 2, 0.25), 0.9 + 6 * 0.25);
}

// Exhausted subtrees are closed: every complete state is simulated to at most once from its own node.
void test_puct_ends_when_all_is_known() {
    Opinionated space(small);
    const TreePolicy policy{
        .value = TreePolicy::Value::BestCost, .bonus = TreePolicy::Bonus::Prior, .normalized = true};
    const auto tree = grown(space, policy, 100000);
    expect("exhausted", tree.is_exhausted());
    expect_equal("optimum", tree.best_cost(), space.optimum().cost);
    expect("no node is simulated from twice", tree.num_iterations() <= 1 + 4 + 16 + 64 + 256);
}

void test_candidates_are_halved() {
    std::vector<Preference<uint32_t>> preferences;
    for (uint32_t i = 0; i < 100; i++) {
        preferences.push_back({i, -std::log(100.0)});
    }
    GumbelRoot<uint32_t> root(preferences, 16, SplitMix64(5));
    expect_equal("candidates", root.candidates().size(), size_t{16});
    expect_equal("halvings", root.num_halvings(), 4);
    std::map<uint32_t, int> turns;
    for (int i = 0; i < 32; i++) {
        turns[root.next([](uint32_t) { return false; })->decision]++;
    }
    expect("in turn", turns.size() == 16 && std::ranges::all_of(turns, [](auto &turn) { return turn.second == 2; }));
    expect("none is left", root.next([](uint32_t) { return true; }) == nullptr);
    // One is far better than all others, and not the one that the noise favours.
    const uint32_t best = root.candidates().back().decision;
    for (int i = 0; i < 4; i++) {
        expect("goes on", root.candidates().size() > 1);
        root.halve(
            [&](uint32_t decision) -> GumbelRoot<uint32_t>::Outcome { return {4, decision == best ? 1.0 : 0.0}; });
    }
    expect("decided", root.candidates().size() == 1 && root.candidates().front().decision == best);
    GumbelRoot<uint32_t> noise(preferences, 4, SplitMix64(5));
    const uint32_t first = noise.candidates().front().decision;
    noise.halve([](uint32_t) -> GumbelRoot<uint32_t>::Outcome { return {}; });
    expect("without simulations the noise decides", noise.candidates().front().decision == first);
    GumbelRoot<uint32_t> few({{7, 0.0}}, 16, SplitMix64(5));
    expect("one alone", few.candidates().size() == 1 && few.num_halvings() == 0);
}

void test_gumbel_search() {
    Opinionated space(small);
    for (const auto bonus : {TreePolicy::Bonus::Multiplied, TreePolicy::Bonus::Prior}) {
        MctsOptions options;
        options.trees = 2;
        options.greedy_trees = 0;
        options.iterations = 64;
        options.candidates = 4;
        options.winner = MctsOptions::Winner::Candidate;
        options.policy.bonus = bonus;
        const auto first = Mcts<Opinionated>(space, options, Budget{}).run();
        options.threads = 2;
        const auto second = Mcts<Opinionated>(space, options, Budget{}).run();
        expect("repeatable", first.solutions.front().actions == second.solutions.front().actions);
        expect_equal("evaluations", first.evaluations, second.evaluations);
        expect("cheap", first.solutions.front().cost <= 1.5 * space.optimum().cost);
        options.iterations = std::nullopt;
        Budget budget;
        budget.evaluations = 50;
        const auto limited = Mcts<Opinionated>(space, options, budget).run();
        expect("within the budget", limited.evaluations <= 60);
        budget.evaluations = 1;
        expect("almost nothing", !Mcts<Opinionated>(space, options, budget).run().solutions.empty());
    }
    MctsOptions wrong;
    wrong.winner = MctsOptions::Winner::Candidate;
    expect_error<InvalidParameter>("no candidates", [&] { check(wrong); });
    wrong.candidates = 0;
    expect_error<InvalidParameter>("too few", [&] { check(wrong); });
}

void test_simulation_guided_beam() {
    Opinionated space(small);
    using Beam = SimulationGuidedBeam<Opinionated>;
    const auto all = Beam(space, {.beam_size = 256, .children = 4}, Budget{}).run();
    expect_equal("a beam that holds everything", all.solutions.front().cost, space.optimum().cost);
    expect("ends by itself", all.ended_by == EndedBy::Finished);
    expect("no state is rated twice", all.evaluations <= 256);

    const auto one = Beam(space, {.beam_size = 1, .children = 1, .sampled = false}, Budget{}).run();
    expect_equal("one rollout, on whose way everything lies or one a step", one.expansions, int64_t{4});

    Budget budget;
    budget.evaluations = 40;
    const SgbsOptions endless{.beam_size = 2, .children = 2, .passes = std::nullopt};
    const auto limited = Beam(space, endless, budget).run();
    expect("ended by the budget", limited.ended_by == EndedBy::Budget && limited.evaluations <= 41);
    const auto again = Beam(space, endless, budget).run();
    expect("repeatable", limited.solutions.front().actions == again.solutions.front().actions);
    expect_error<InvalidParameter>("no end", [&] { Beam(space, endless, Budget{}); });
    expect_error<InvalidParameter>("no beam", [&] { Beam(space, {.beam_size = 0}, Budget{}); });
    SyntheticTree plain(small);
    const auto undirected = SimulationGuidedBeam<SyntheticTree>(plain, {.beam_size = 256}, Budget{}).run();
    expect_equal("without preferences", undirected.solutions.front().cost, plain.optimum().cost);
}

// Tells paths apart.
class Telling : public SyntheticTree {
public:
    using SyntheticTree::SyntheticTree;

    static uint64_t hash_of_path(std::span<const Decision> path) {
        uint64_t hash = 1;
        for (const Decision decision : path) {
            hash = 5 * hash + decision;
        }
        return hash;
    }
};

static_assert(HashesPaths<Telling> && !HashesPaths<SyntheticTree>);

void test_rollouts_rate_no_path_twice() {
    Telling space(small);
    const RolloutSearchOptions options{.rollouts = 200};
    expect_equal("as many different ones", rollout_search(space, options, Budget{}).evaluations, int64_t{200});
    Budget budget;
    budget.seconds = 1e6;
    const auto all = rollout_search(space, {}, budget);
    expect("as there are, and then it ends", all.evaluations > 250 && all.evaluations <= 256);
    expect("by itself", all.ended_by == EndedBy::Finished);
    expect_equal("with the optimum", all.solutions.front().cost, space.optimum().cost);
    SyntheticTree plain(small);
    expect_equal("who cannot tell", rollout_search(plain, {.rollouts = 1000}, Budget{}).evaluations, int64_t{1000});
}

}  // namespace

int main() {
    test_puct_visits_what_the_policy_likes();
    test_puct_formula();
    test_puct_ends_when_all_is_known();
    test_candidates_are_halved();
    test_gumbel_search();
    test_simulation_guided_beam();
    test_rollouts_rate_no_path_twice();
    return failures == 0 ? 0 : 1;
}
