// Exhaustive search on a small tree: what is counted, what is kept, and when it ends.

#include "search/exhaustive_search.h"

#include <algorithm>
#include <cmath>

#include "example_problem.h"
#include "problem/error.h"

using namespace halidegym;

namespace {

// Words of three letters out of a, b, c. "b" is a dead end, and words with a double letter are not acceptable. The
// words that remain cost the number of c in them.
class Words {
public:
    using State = std::string;
    using Decision = char;
    struct Children {
        State parent;
        std::string letters;
        std::span<const Decision> decisions() const { return letters; }
        State child(Decision letter) const { return parent + letter; }
    };

    State root() const { return ""; }
    bool is_complete(const State &word) const { return word.size() == 3; }
    int depth(const State &word) const { return static_cast<int>(word.size()); }
    int max_depth() const { return 3; }
    Children children(const State &word) const { return {word, word == "b" ? "" : "abc"}; }
    State apply(const State &word, Decision letter) const { return word + letter; }
    bool inherits_cost(Decision) const { return false; }
    std::optional<double> cost(const State &word) {
        evaluated.push_back(word);
        if (nothing_is_acceptable || word[0] == word[1] || word[1] == word[2]) {
            return std::nullopt;
        }
        return static_cast<double>(std::count(word.begin(), word.end(), 'c'));
    }
    uint64_t hash(const State &, int) const { return 0; }
    bool equal(const State &a, const State &b) const { return a == b; }

    std::vector<State> evaluated;
    bool nothing_is_acceptable = false;
};

static_assert(SearchSpace<Words>);

void test_everything_is_visited_once() {
    Words words;
    const auto result = ExhaustiveSearch<Words>(words, Budget{}).run();
    expect("all complete states, in order",
           words.evaluated == std::vector<std::string>{"aaa", "aab", "aac", "aba", "abb", "abc", "aca", "acb", "acc",
                                                       "caa", "cab", "cac", "cba", "cbb", "cbc", "cca", "ccb", "ccc"});
    expect("acceptable ones are counted", result.evaluations == 8);
    expect("expansions", result.expansions == 1 + 3 + 6);
    expect("its own end", result.ended_by == EndedBy::Finished);
    std::vector<std::string> found;
    for (const auto &solution : result.solutions) {
        found.push_back(solution.state);
    }
    expect("best first, equal ones in order",
           found == std::vector<std::string>{"aba", "abc", "aca", "acb", "cab", "cba", "cac", "cbc"});
    expect("actions", result.solutions[1].actions == std::vector<uint32_t>{0, 1, 2});
    expect("one improvement", result.history.size() == 1 && result.history[0].cost == 0);
}

void test_budgets() {
    Budget budget;
    budget.evaluations = 3;
    Words words;
    const auto result = ExhaustiveSearch<Words>(words, budget).run();
    expect("three evaluations", result.evaluations == 3 && result.ended_by == EndedBy::Budget);

    Budget none;
    none.keep_going = [](const Progress &) { return false; };
    const auto first = ExhaustiveSearch<Words>(words, none).run();
    expect("one result at least", first.evaluations == 1 && first.solutions.front().state == "aba");
    expect("stopped", first.ended_by == EndedBy::Interrupt);
}

void test_no_solution() {
    Words words;
    words.nothing_is_acceptable = true;
    bool thrown = false;
    try {
        ExhaustiveSearch<Words>(words, Budget{}).run();
    } catch (const SearchExhausted &) {
        thrown = true;
    }
    expect("nothing acceptable", thrown);
}

// Two thirds of the walks reach a word, each with the product 27, and a third runs into the dead end: 18 in the mean.
void test_estimate() {
    Words words;
    const double estimate = estimate_num_complete_states(words, 10000, 0, [] {});
    expect("estimate " + std::to_string(estimate), std::abs(estimate - 18) < 0.5);
}

}  // namespace

int main() {
    test_everything_is_visited_once();
    test_budgets();
    test_no_solution();
    test_estimate();
    return failures == 0 ? 0 : 1;
}
