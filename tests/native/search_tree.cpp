// One tree of Monte Carlo tree search: formulas, what a simulation costs, memory, and the best state that it knows.

#include "search/tree/search_tree.h"

#include <cmath>

#include "search/tree/search_tree_growth.h"
#include "words.h"

using namespace halidegym;

namespace {

bool near(double a, double b) {
    return std::abs(a - b) < 1e-12 * std::abs(b);
}

// Table 1 of the paper, by hand: a parent of 10 visits, a child of 4 with costs 2, 4, 8, 2.
void test_formulas() {
    NodeStatistics parent;
    NodeStatistics child;
    for (int i = 0; i < 10; i++) {
        parent.add(i % 2 == 0 ? 2.0 : 6.0, false);
    }
    for (const double cost : {2.0, 4.0, 8.0, 2.0}) {
        child.add(cost, cost < 3);
    }
    const auto score = [&](const TreePolicy &policy, int depth = 0) {
        return policy.score(child, policy.exploration_at(parent, depth), 1.0);
    };
    using Value = TreePolicy::Value;
    using Bonus = TreePolicy::Bonus;
    const double root = std::sqrt(std::log(10.0) / 4);
    expect("mcts_30s", near(score({}), (1 / 4.0) * (1 + root)));
    expect("mcts_Cp10_30s", near(score({.exploration = 10}), (1 / 4.0) * (1 + 10 * root)));
    const TreePolicy sqrt2{
        .value = Value::MeanInverse, .bonus = Bonus::Added, .exploration = std::sqrt(2.0), .log_factor = 2};
    expect("mcts_sqrt2_30s",
           near(score(sqrt2), (0.5 + 0.25 + 0.125 + 0.5) / 4 + std::sqrt(2.0) * std::sqrt(2.0) * root));
    TreePolicy normalized = sqrt2;
    normalized.normalized = true;
    expect("relative to the best", near(normalized.value_of(child, 2.0), 2 * 1.375 / 4));
    expect("best cost", near(score({.value = Value::BestCost}), 0.5 * (1 + root)));
    expect("0/1 reward", near(score({.value = Value::SuccessRate, .bonus = Bonus::Added}), 0.5 + root));
    expect("spread", near(score({.exploration_by_spread = true}), (1 / 4.0) * (1 + 0.5 * root)));
    expect("decay", near(score({.exploration_decay = 0.5}, 3), (1 / 4.0) * (1 + 0.125 * root)));
    child.add(std::nullopt, false);
    expect("a dead end is a visit without a cost", child.visits == 5 && child.outcomes == 4 && child.mean_cost() == 4);
}

// A random simulation builds one child per decision and asks for no cost.
void test_simulation() {
    Words words;
    for (uint64_t seed = 0; seed < 50; seed++) {
        words.children_built = words.costs_asked = 0;
        const auto simulation = simulate(words, std::string(), SplitMix64(seed), {}, {}, always);
        expect_equal("children built", words.children_built, static_cast<int>(simulation.decisions.size()));
        expect_equal("costs asked", words.costs_asked, 0);
        expect("complete or a dead end",
               simulation.end ? simulation.end->size() == 6 : simulation.decisions.size() < 6);
        const auto again = simulate(words, std::string(), SplitMix64(seed), {}, {}, always);
        expect("repeatable", again.end == simulation.end && again.decisions == simulation.decisions);
    }
    const auto greedy = simulate(words, std::string(), SplitMix64(0), {1}, {}, always);
    for (size_t i = 0; i < greedy.end->size(); i++) {
        const std::string word = greedy.end->substr(0, i);
        const auto children = words.children(word);
        for (const char letter : children.decisions()) {
            const auto cost = words.cost(word + letter);
            expect("greedy", !cost || *cost >= *words.cost(greedy.end->substr(0, i + 1)));
        }
    }
    expect("its cost is known already", !greedy.cost || greedy.cost == words.cost(*greedy.end));
    const auto abandoned = simulate(words, std::string(), SplitMix64(0), {1}, {}, [](const auto &) { return false; });
    expect("abandoned", abandoned.abandoned && !abandoned.needs_cost());
}

// Forced decisions get neither a node nor a draw.
void test_forced() {
    Words words;
    const auto walk = follow_forced(words, std::string("ca"));
    expect("forced", walk.state == "cab" && walk.decisions == std::vector<char>{'b'});
    expect("a dead end is no forced decision", follow_forced(words, std::string("dd")).state == "dd");
}

template <typename Tree>
void iterate(Words &words, Tree &tree, int count) {
    for (int i = 0; i < count && !tree.is_exhausted(); i++) {
        const auto iteration = tree.begin_iteration(words, always);
        const auto &end = iteration.simulation.end;
        tree.finish_iteration(words, iteration, end ? words.cost(*end) : std::nullopt);
    }
}

// Whatever was simulated, and however the arena limits the tree, the best state can be repeated, also after moves.
void test_best_is_repeated() {
    for (const SimulationPolicy policy : {SimulationPolicy{}, {0.5}, {1}, {0, 2}, {0.2, 0.5}}) {
        for (const uint32_t max_nodes : {2u, 10u, 1000u}) {
            for (uint64_t seed = 0; seed < 10; seed++) {
                Words words;
                SearchTree<Words> tree({.policy = {}, .simulation = policy, .max_nodes = max_nodes, .seed = seed}, "");
                iterate(words, tree, 60);
                expect("within its memory", tree.num_nodes() <= max_nodes);
                auto best = tree.best(words);
                expect("found", best.has_value());
                std::string word(best->decisions.begin(), best->decisions.end());
                expect("the best is repeated", words.cost(word) == best->cost && best->cost == tree.best_cost());
                auto forced = follow_forced(words, word.substr(0, 1));
                forced.decisions.insert(forced.decisions.begin(), word[0]);
                const auto lead = word.substr(forced.decisions.size());
                tree.move_root(forced, false, best->cost, {lead.begin(), lead.end()});
                expect("kept below the new root", max_nodes < 100 || tree.best_cost() == best->cost);
                iterate(words, tree, 60);
                best = tree.best(words);
                expect("found below", best.has_value());
                word = forced.state + std::string(best->decisions.begin(), best->decisions.end());
                expect("the best below is repeated", words.cost(word) == best->cost);
            }
        }
    }
}

// Nothing is asked for that does not count, also when the root moves away from what was best.
void test_costs_asked_are_counted() {
    for (const SimulationPolicy policy : {SimulationPolicy{}, {0.5}, {1}, {0, 2}, {0, 2, 3}, {0.2, 0.5, 2}}) {
        for (const char next : {'a', 'b', 'c', 'd'}) {
            Words words;
            SearchTree<Words> tree({.policy = {}, .simulation = policy, .seed = 3}, "");
            for (int i = 0; i < 200; i++) {
                const auto iteration = tree.begin_iteration(words, always);
                const auto &simulation = iteration.simulation;
                tree.finish_iteration(words, iteration,
                                      simulation.needs_cost() ? words.cost(*simulation.end) : simulation.cost);
            }
            tree.best(words);
            auto forced = follow_forced(words, std::string{next});
            forced.decisions.insert(forced.decisions.begin(), next);
            tree.move_root(forced, false, tree.best_cost(), {});
            const auto best = tree.best(words);
            expect_equal("costs asked", words.costs_asked, tree.evaluations());
            if (best) {
                const std::string word = forced.state + std::string(best->decisions.begin(), best->decisions.end());
                expect("the best below", words.cost(word) == best->cost && best->cost == tree.best_cost());
            }
        }
    }
}

// A tree that knows everything stops, and knows the optimum.
void test_exhaustion() {
    Words words;
    const double best = optimum(words);
    for (const double widening : {1.0, 0.5}) {
        SearchTree<Words> tree({.policy = {}, .simulation = {}, .widening = widening, .seed = 1}, "");
        iterate(words, tree, 1000000);
        expect("exhausted", tree.is_exhausted());
        expect_equal("optimum", tree.best_cost(), best);
    }
}

}  // namespace

int main() {
    test_formulas();
    test_simulation();
    test_forced();
    test_best_is_repeated();
    test_costs_asked_are_counted();
    test_exhaustion();
    return failures == 0 ? 0 : 1;
}
