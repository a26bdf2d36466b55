#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "search/graph/graph_search.h"
#include "search/parameters.h"

namespace halidegym {

struct TagOptions {
    int best_rewards = 100;
    double delta = 1;
    GraphSearchOptions graph;
};

inline void check(const TagOptions &options) {
    require_at_least("best_rewards", options.best_rewards, 1);
    require_range("delta", options.delta, options.delta > 0 && std::isfinite(options.delta), "positive and finite");
}

// Threshold Ascent in its anytime variation (Streeter and Smith 2006; de Mesmay et al. 2009, section 3.1): prefers the
// arms that the best rewards of all come from. Rewards are only ranked, so the lowest costs are the best rewards as
// they are. An exhausted arm cannot be pulled, so it is none: neither its rewards nor itself count.
class ThresholdAscent {
public:
    // The number of rewards, and the best of them: a vertex's s best are all that a choice above it can look at.
    class Rewards {
    public:
        explicit Rewards(size_t kept) : kept_(kept) {}

        void add(double cost) {
            count_++;
            if (std::isfinite(cost) && (lowest_.size() < kept_ || cost < lowest_.back())) {
                lowest_.insert(std::upper_bound(lowest_.begin(), lowest_.end(), cost), cost);
                lowest_.resize(std::min(lowest_.size(), kept_));
            }
        }

        void add(const Rewards &others) {
            count_ += others.count_;
            std::vector<double> merged;
            std::merge(lowest_.begin(), lowest_.end(), others.lowest_.begin(), others.lowest_.end(),
                       std::back_inserter(merged));
            merged.resize(std::min(merged.size(), kept_));
            lowest_ = std::move(merged);
        }

        int64_t count() const { return count_; }
        std::span<const double> lowest_costs() const { return lowest_; }

    private:
        size_t kept_;
        int64_t count_ = 0;
        std::vector<double> lowest_;  // ascending
    };

    ThresholdAscent(int best_rewards, double delta) : best_rewards_(static_cast<size_t>(best_rewards)), delta_(delta) {}

    Rewards no_rewards() const { return Rewards(best_rewards_); }

    // The h_i of the paper for an arm with `best` of the best rewards and `count` rewards, of `total` rewards of `arms`
    // arms.
    double weight(int64_t best, int64_t count, int64_t total, size_t arms) const {
        if (count == 0) {
            return std::numeric_limits<double>::infinity();
        }
        // A delta above 2 n k would make the logarithm negative; no preference is left long before.
        const double alpha =
            std::max(0.0, std::log(2.0 * static_cast<double>(total) * static_cast<double>(arms) / delta_));
        const auto s = static_cast<double>(best);
        return (s + alpha + std::sqrt(2 * s * alpha + alpha * alpha)) / static_cast<double>(count);
    }

    size_t choose(std::span<const Rewards *const> arms) const {
        const std::vector<int64_t> best = best_by_arm(arms);
        int64_t total = 0;
        for (const Rewards *arm : arms) {
            total += arm->count();
        }
        size_t chosen = 0;
        double highest = -1;
        for (size_t arm = 0; arm < arms.size(); arm++) {
            const double weight = this->weight(best[arm], arms[arm]->count(), total, arms.size());
            if (weight > highest) {
                highest = weight;
                chosen = arm;
            }
        }
        return chosen;
    }

private:
    // How many of the best rewards of all come from each arm.
    std::vector<int64_t> best_by_arm(std::span<const Rewards *const> arms) const {
        std::vector<std::pair<double, size_t>> rewards;
        for (size_t arm = 0; arm < arms.size(); arm++) {
            for (const double cost : arms[arm]->lowest_costs()) {
                rewards.emplace_back(cost, arm);
            }
        }
        if (rewards.size() > best_rewards_) {
            std::nth_element(rewards.begin(), rewards.begin() + static_cast<std::ptrdiff_t>(best_rewards_),
                             rewards.end());
            rewards.resize(best_rewards_);
        }
        std::vector<int64_t> result(arms.size());
        for (const auto &[cost, arm] : rewards) {
            result[arm]++;
        }
        return result;
    }

    size_t best_rewards_;
    double delta_;
};

// Threshold Ascent on Graph (de Mesmay, Rimmel, Voronenko and Püschel 2009): aims at the best single solution.
template <SearchSpace S>
SearchResult<typename S::State> tag_search(S &space, const TagOptions &options, const Budget &budget) {
    check(options);
    const ThresholdAscent bandit(options.best_rewards, options.delta);
    return GraphSearch(space, bandit, options.graph, budget).run();
}

}  // namespace halidegym
