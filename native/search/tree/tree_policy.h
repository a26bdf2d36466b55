#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "problem/error.h"
#include "search/parameters.h"

namespace halidegym {

// What the simulations through one node of a search tree have told.
struct NodeStatistics {
    uint32_t visits = 0;
    uint32_t outcomes = 0;   // visits that reached a complete state
    uint32_t successes = 0;  // of these, how many beat the best of the root (the 0/1 reward of ProTuner, section 4.1)
    double sum_cost = 0;
    double sum_square = 0;
    double sum_inverse = 0;
    double best_cost = std::numeric_limits<double>::infinity();

    void add(std::optional<double> cost, bool success) {
        visits++;
        if (!cost) {
            return;
        }
        outcomes++;
        successes += success ? 1 : 0;
        sum_cost += *cost;
        sum_square += *cost * *cost;
        sum_inverse += 1 / *cost;
        best_cost = std::min(best_cost, *cost);
    }

    double mean_cost() const { return sum_cost / outcomes; }
    // Standard deviation of the costs over their mean.
    double spread() const {
        if (outcomes < 2) {
            return 1;
        }
        const double variance = std::max(0.0, sum_square / outcomes - mean_cost() * mean_cost());
        return std::sqrt(variance) / mean_cost();
    }
};

// How a tree chooses the child to look into: value and bonus of a child j with n_j of its parent's n visits
// (ProTuner, equation 1 and Table 1),
//
//     value * (1 + bonus)  or  value + bonus,   bonus = exploration * sqrt(log_factor * ln n / n_j),
//
// or, by a policy's probability p_j of the child's decision (PUCT; Silver et al. 2017),
//
//     value + bonus,   bonus = exploration * p_j * sqrt(n) / (1 + n_j),
//
// where decisions that were not tried yet, the likeliest first, compete with the children. Their value is a part of the
// parent's.
struct TreePolicy {
    enum class Value {
        MeanCost,     // 1 / mean T
        MeanInverse,  // mean of 1 / T
        BestCost,     // 1 / min T
        SuccessRate,  // mean of the 0/1 reward
    };
    enum class Bonus { Multiplied, Added, Prior };
    static constexpr double first_play = 0.9;  // value of what was not tried, as a part of the parent's

    Value value = Value::MeanCost;
    Bonus bonus = Bonus::Multiplied;
    double exploration = 1;
    double log_factor = 1;
    // Costs relative to the best so far, so that values lie in [0, 1] as the theory of the bonus assumes.
    bool normalized = false;
    // The paper's future work: exploration in proportion to the relative spread of the costs below the parent, and
    // shrinking by a factor per level.
    bool exploration_by_spread = false;
    double exploration_decay = 1;

    double value_of(const NodeStatistics &child, double best_cost) const {
        if (child.outcomes == 0) {
            return 0;
        }
        const double unit = normalized ? best_cost : 1;
        switch (value) {
        case Value::MeanCost:
            return unit / child.mean_cost();
        case Value::MeanInverse:
            return unit * child.sum_inverse / child.outcomes;
        case Value::BestCost:
            return unit / child.best_cost;
        default:
            return static_cast<double>(child.successes) / child.outcomes;
        }
    }

    // All values but the success rate have inverse costs: with others than positive ones, the worst would be preferred.
    void require_fitting(double cost) const {
        if (value != Value::SuccessRate && !(cost > 0)) {
            throw InvalidParameter("a state costs " + std::to_string(cost) +
                                   ", but this selection needs positive costs; use selection=\"success_rate\", or TAG, "
                                   "which only rank them");
        }
    }

    // What all children of a node have in common of the bonus.
    double exploration_at(const NodeStatistics &parent, int depth) const {
        return exploration * (exploration_by_spread ? parent.spread() : 1) *
               (exploration_decay == 1 ? 1 : std::pow(exploration_decay, depth)) *
               std::sqrt(bonus == Bonus::Prior ? parent.visits
                                               : log_factor * std::log(static_cast<double>(parent.visits)));
    }

    double score(const NodeStatistics &child, double exploration_here, double best_cost, double prior = 1) const {
        const double chosen = value_of(child, best_cost);
        if (bonus == Bonus::Prior) {
            return chosen + exploration_here * prior / (1.0 + child.visits);
        }
        const double extra = exploration_here / std::sqrt(static_cast<double>(child.visits));
        return bonus == Bonus::Multiplied ? chosen * (1 + extra) : chosen + extra;
    }

    // Of a decision that was not tried yet.
    double score_untried(const NodeStatistics &parent, double exploration_here, double best_cost, double prior) const {
        return first_play * value_of(parent, best_cost) + exploration_here * prior;
    }
};

inline void check(const TreePolicy &policy) {
    require_range("exploration", policy.exploration, policy.exploration >= 0, "at least 0");
    require_positive("exploration_decay", policy.exploration_decay);
}

}  // namespace halidegym
