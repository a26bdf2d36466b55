#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "example_problem.h"
#include "search/spaces/search_space.h"

namespace halidegym {

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

inline constexpr auto always = [](const auto &...) { return true; };

inline double optimum(Words &words, const std::string &word = "") {
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

}  // namespace halidegym
