#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "problem/error.h"
#include "search/graph/graph_search.h"
#include "search/parameters.h"

namespace halidegym {

struct UctOptions {
    double exploration = std::sqrt(2.0);
    GraphSearchOptions graph{.merge = false};
};

inline void check(const UctOptions &options) {
    require_range("exploration", options.exploration, options.exploration > 0 && std::isfinite(options.exploration),
                  "positive and finite");
}

// The upper confidence bound UCB1 (Auer et al. 2002): mean reward + exploration * sqrt(ln n / n_i). The reward of a
// cost is its inverse, relative to the best at the arms, so that it is between 0 and 1.
class UpperConfidenceBound {
public:
    class Rewards {
    public:
        void add(double cost) {
            if (!(cost > 0)) {
                throw InvalidParameter("a state costs " + std::to_string(cost) +
                                       ", but UCT needs positive costs; use TAG, which only ranks them");
            }
            count_++;
            sum_ += 1 / cost;
            best_ = std::max(best_, 1 / cost);
        }
        void add(const Rewards &others) {
            count_ += others.count_;
            sum_ += others.sum_;
            best_ = std::max(best_, others.best_);
        }
        int64_t count() const { return count_; }
        double mean() const { return sum_ / static_cast<double>(count_); }
        double best() const { return best_; }

    private:
        int64_t count_ = 0;
        double sum_ = 0;
        double best_ = 0;
    };

    explicit UpperConfidenceBound(double exploration) : exploration_(exploration) {}

    Rewards no_rewards() const { return {}; }

    size_t choose(std::span<const Rewards *const> arms) const {
        int64_t total = 0;
        double best = 0;
        for (const Rewards *arm : arms) {
            total += arm->count();
            best = std::max(best, arm->best());
        }
        const auto bound = [&](const Rewards *arm) {
            const double mean = best > 0 ? arm->mean() / best : 0;
            return mean +
                   exploration_ * std::sqrt(std::log(static_cast<double>(total)) / static_cast<double>(arm->count()));
        };
        const auto highest = std::max_element(arms.begin(), arms.end(),
                                              [&](const Rewards *a, const Rewards *b) { return bound(a) < bound(b); });
        return static_cast<size_t>(highest - arms.begin());
    }

private:
    double exploration_;
};

// UCT (Kocsis and Szepesvári 2006) in the setting of TAG, to compare with: aims at the best mean, on a tree by default.
template <SearchSpace S>
SearchResult<typename S::State> uct_search(S &space, const UctOptions &options, const Budget &budget) {
    check(options);
    return GraphSearch(space, UpperConfidenceBound(options.exploration), options.graph, budget).run();
}

}  // namespace halidegym
