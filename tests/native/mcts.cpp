// Monte Carlo tree search on small spaces: formulas, what a simulation costs, memory, threads, and every way to end.

#include "search/tree/mcts.h"

#include <cmath>

#include "example_problem.h"
#include "search/spaces/synthetic_tree.h"

using namespace halidegym;

namespace {

// Words of six letters. After an "a" only "b" may follow, after "dd" nothing at all; words with "cc" are not
// acceptable. The cost is one plus the position in the alphabet of each letter times a prime. Counts what is asked of
// it.
class Words {
public:
    using State = std::string;
    using Decision = char;
    struct Children {
        Words *words;
        State parent;
        std::string letters;
        std::span<const Decision> decisions() const { return letters; }
        State child(Decision letter) const { return words->apply(parent, letter); }
    };

    static constexpr size_t length = 6;

    State root() const { return ""; }
    bool is_complete(const State &word) const { return word.size() == length; }
    int depth(const State &word) const { return static_cast<int>(word.size()); }
    int max_depth() const { return static_cast<int>(length); }
    Children children(const State &word) {
        return {this, word, word.ends_with("dd") ? "" : word.ends_with("a") ? "b" : "abcd"};
    }
    State apply(const State &word, Decision letter) {
        children_built++;
        return word + letter;
    }
    bool inherits_cost(Decision) const { return false; }
    std::optional<double> cost(const State &word) {
        costs_asked++;
        if (fails) {
            throw InvalidParameter("no cost");
        }
        if (nothing_is_acceptable || word.find("cc") != std::string::npos) {
            return std::nullopt;
        }
        double cost = 1;
        for (size_t i = 0; i < word.size(); i++) {
            cost += (word[i] - 'a' + 1) * (std::array{13, 7, 3, 11, 2, 5})[i] % 17;
        }
        return cost;
    }
    uint64_t hash(const State &, int) const { return 0; }
    bool equal(const State &a, const State &b) const { return a == b; }

    int children_built = 0;
    int costs_asked = 0;
    bool nothing_is_acceptable = false;
    bool fails = false;
};

static_assert(SearchSpace<Words>);

constexpr auto always = [](const auto &...) { return true; };

double optimum(Words &words, const std::string &word = "") {
    double best = std::numeric_limits<double>::infinity();
    if (words.is_complete(word)) {
        return words.cost(word).value_or(best);
    }
    const auto children = words.children(word);
    for (const char letter : children.decisions()) {
        best = std::min(best, optimum(words, word + letter));
    }
    return best;
}

MctsOptions iterations(std::optional<int64_t> count) {
    MctsOptions options;
    options.trees = 3;
    options.iterations = count;
    return options;
}

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

// A simulation that always replays follows the lead as long as that is legal, whatever the seed.
void test_replay() {
    Words words;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const std::string lead = "bcdb";
        const auto followed = simulate(words, std::string("a"), SplitMix64(seed), {0, 1e-9}, lead, always);
        expect("the lead", !followed.end || followed.end->starts_with("abcdb"));
        const auto illegal =
            simulate(words, std::string("a"), SplitMix64(seed), {0, 1e-9}, std::string("ccdb"), always);
        expect("only b after a", !illegal.end || illegal.end->starts_with("abcdb"));
        const auto never = simulate(words, std::string("a"), SplitMix64(seed), {0, 9}, lead, always);
        const auto random = simulate(words, std::string("a"), SplitMix64(seed), {}, {}, always);
        expect("no replay", never.decisions == random.decisions);
    }
    const SyntheticTree tree({.branching = 4, .depth = 6, .delta = 100, .seed = 1});
    MctsOptions options = iterations(3000);
    options.deviations = 2;
    expect_equal("optimum", Mcts<SyntheticTree>(tree, options, Budget{}).run().solutions.front().cost,
                 tree.optimum().cost);
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
        tree.finish_iteration(iteration, end ? words.cost(*end) : std::nullopt);
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

void test_optimum() {
    Words words;
    const auto result = Mcts<Words>(words, iterations(3000), Budget{}).run();
    expect_equal("words", result.solutions.front().cost, optimum(words));
    expect("its own end", result.ended_by == EndedBy::Finished);
    expect_equal("one deciding state per choice", result.pass_costs.size(), result.pass_solutions.size());
    for (uint64_t seed = 0; seed < 5; seed++) {
        SyntheticTree tree({.branching = 4, .depth = 5, .delta = 100, .seed = seed});
        const auto found = Mcts<SyntheticTree>(tree, iterations(2000), Budget{}).run().solutions.front();
        expect_equal("synthetic tree", found.cost, tree.optimum().cost);
        expect("its decisions", found.actions == tree.optimum().actions);
    }
}

void test_threads_make_no_difference() {
    const SyntheticTree tree({.branching = 5, .depth = 8, .delta = 10, .seed = 3});
    for (const auto winner : {MctsOptions::Winner::Best, MctsOptions::Winner::Average}) {
        std::vector<std::vector<uint32_t>> actions;
        std::vector<int64_t> evaluations;
        for (const int threads : {1, 2, 3, 8}) {
            MctsOptions options = iterations(40);
            options.trees = 7;
            options.greedy_trees = 2;
            options.winner = winner;
            options.threads = threads;
            options.seed = 11;
            const auto result = Mcts<SyntheticTree>(tree, options, Budget{}).run();
            actions.push_back(result.solutions.front().actions);
            evaluations.push_back(result.evaluations);
        }
        expect("equal actions", std::equal(actions.begin() + 1, actions.end(), actions.begin()));
        expect("equal counts", std::equal(evaluations.begin() + 1, evaluations.end(), evaluations.begin()));
    }
}

// Candidates are timed, and the fastest decides, whatever it costs.
void test_measured() {
    Words words;
    const auto seconds = [](const std::string &word) {
        return static_cast<double>(std::count(word.begin(), word.end(), 'b'));
    };
    std::vector<std::string> measured;
    const auto measure = [&](const std::vector<Solution<std::string>> &candidates) {
        std::vector<double> result;
        for (const auto &candidate : candidates) {
            measured.push_back(candidate.state);
            result.push_back(seconds(candidate.state));
        }
        return result;
    };
    const auto result = Mcts<Words>(words, iterations(20), Budget{}, measure).run();
    double fastest = std::numeric_limits<double>::infinity();
    for (const std::string &word : measured) {
        fastest = std::min(fastest, seconds(word));
    }
    expect_equal("the fastest decides last", seconds(result.pass_solutions.back().state), fastest);
    const auto stopped =
        Mcts<Words>(words, iterations(20), Budget{}, [](const auto &) { return std::vector<double>(); }).run();
    expect("stopped by the measurement", stopped.ended_by == EndedBy::Interrupt && !stopped.solutions.empty());
}

// Each end gives the best so far, or a clear error.
void test_ends() {
    Words words;
    Budget budget;
    budget.evaluations = 0;
    const auto nothing = Mcts<Words>(words, iterations(10), budget).run();
    expect("zero budget", nothing.solutions.size() == 1 && nothing.ended_by == EndedBy::Budget);
    budget = {};
    budget.seconds = 1e-9;
    expect("no time", !Mcts<Words>(words, iterations(10), budget).run().solutions.empty());
    budget = {};
    budget.evaluations = 100;
    MctsOptions shared = iterations(std::nullopt);
    const auto within = Mcts<Words>(words, shared, budget).run();
    expect("a budget is divided among the decisions", within.evaluations <= 130 && within.pass_costs.size() >= 3);
    expect("and is its end", within.ended_by == EndedBy::Budget);
    budget.evaluations = 1000000;
    expect("unless all is known", Mcts<Words>(words, shared, budget).run().ended_by == EndedBy::Finished);
    budget = {};
    budget.keep_going = [](const Progress &) { return false; };
    const auto stopped = Mcts<Words>(words, iterations(1000000), budget).run();
    expect("stopped", stopped.ended_by == EndedBy::Interrupt && !stopped.solutions.empty());
    MctsOptions tiny = iterations(200);
    tiny.tree_memory = 1;
    expect("no memory for trees", !Mcts<Words>(words, tiny, Budget{}).run().solutions.empty());

    expect_error<InvalidParameter>("no limit", [&] { Mcts<Words>(words, shared, Budget{}); });
    for (const int trees : {0, 1000000000}) {
        MctsOptions wrong = iterations(1);
        wrong.trees = trees;
        expect_error<InvalidParameter>("number of trees", [&] { Mcts<Words>(words, wrong, Budget{}); });
    }
    MctsOptions many = iterations(1);
    many.trees = 1 << 16;
    many.tree_memory = 1;
    expect("many trees", !Mcts<Words>(words, many, Budget{}).run().solutions.empty());
    MctsOptions patient = iterations(std::nullopt);
    patient.seconds_per_decision = 1e300;
    expect("all the time there is", Mcts<Words>(words, patient, Budget{}).run().ended_by == EndedBy::Finished);
    Words hopeless;
    hopeless.nothing_is_acceptable = true;
    expect_error<SearchExhausted>("nothing acceptable", [&] { Mcts<Words>(hopeless, iterations(10), Budget{}).run(); });
}

// A search keeps its budget, also one that the caller has let go of.
void test_a_temporary_budget() {
    Words words;
    std::optional<Budget> budget = Budget{.evaluations = 50, .keep_going = always};
    Mcts<Words> tree_search(words, iterations(1000000), *budget);
    BeamSearch<Words> beam(words, {.beam_size = 1000, .passes = 100}, *budget);
    budget.reset();
    expect("tree search", tree_search.run().ended_by == EndedBy::Budget);
    expect("beam", beam.run().ended_by == EndedBy::Budget);
}

// What a thread throws arrives at the caller.
void test_errors_in_threads() {
    class Fragile : public Words {
    public:
        std::optional<double> cost(const State &word) {
            return ++asked_ > 5 ? throw std::bad_alloc() : Words::cost(word);
        }

    private:
        int asked_ = 0;
    };
    MctsOptions options = iterations(1000);
    options.threads = 2;
    expect_error<std::bad_alloc>("out of memory", [&] { Mcts<Fragile>(Fragile(), options, Budget{}).run(); });
}

}  // namespace

int main() {
    test_formulas();
    test_simulation();
    test_replay();
    test_forced();
    test_best_is_repeated();
    test_exhaustion();
    test_optimum();
    test_threads_make_no_difference();
    test_measured();
    test_ends();
    test_a_temporary_budget();
    test_errors_in_threads();
    return failures == 0 ? 0 : 1;
}
