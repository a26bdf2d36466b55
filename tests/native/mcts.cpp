// Monte Carlo tree search on small spaces: replay, threads, measured candidates, and every way to end.

#include "search/tree/mcts.h"

#include "search/spaces/synthetic_tree.h"
#include "words.h"

using namespace halidegym;

namespace {

MctsOptions iterations(std::optional<int64_t> count) {
    MctsOptions options;
    options.trees = 3;
    options.iterations = count;
    return options;
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

// Words that now and then have other decisions, or are not complete, when they are asked again.
class FickleWords : public Words {
public:
    explicit FickleWords(uint64_t seed) : random_(seed) {}

    bool is_complete(const State &word) { return word.size() >= length && !changes(); }
    Children children(const State &word) { return {this, word, changes() ? "ab" : "abcd"}; }
    std::optional<double> cost(const State &word) { return 1 + static_cast<double>(split_seed(7, word.back()) % 11); }

private:
    bool changes() { return uniform_below(random_, 12) == 0; }

    SplitMix64 random_;
};

void test_changed_answers() {
    int refused = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        MctsOptions options = iterations(10);
        options.winner = seed % 2 == 0 ? MctsOptions::Winner::Average : MctsOptions::Winner::Best;
        options.first_beam = seed % 3 == 0 ? std::optional(2) : std::nullopt;
        options.policy.bonus = seed % 5 == 0 ? TreePolicy::Bonus::Prior : options.policy.bonus;
        try {
            Mcts<FickleWords>(FickleWords(seed), options, Budget{}).run();
        } catch (const InvalidParameter &) {
            refused++;
        }
    }
    expect("some are found out", refused > 0);
}

}  // namespace

int main() {
    test_replay();
    test_optimum();
    test_threads_make_no_difference();
    test_measured();
    test_ends();
    test_a_temporary_budget();
    test_errors_in_threads();
    test_changed_answers();
    return failures == 0 ? 0 : 1;
}
