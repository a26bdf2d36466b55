#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "search/spaces/optional_hooks.h"
#include "search/spaces/splitmix.h"

namespace halidegym {

// Some decisions of the root that a search has a budget for: drawn without repetition from a policy, tried in turn, and
// halved again and again by what came of them, until one is left (Danihelka et al. 2022, "Policy improvement by
// planning with Gumbel"). Made for budgets below the number of decisions.
template <typename Decision>
class GumbelRoot {
public:
    struct Candidate {
        Decision decision;
        double log_probability;
        double score;  // log probability + Gumbel noise
    };
    // Of what came of a candidate: its simulations, and the mean of their values, from 0 to 1; none if there is no
    // simulation.
    struct Outcome {
        uint32_t visits = 0;
        std::optional<double> value;
    };

    GumbelRoot() = default;
    GumbelRoot(const std::vector<Preference<Decision>> &preferences, size_t count, SplitMix64 random) {
        for (const auto &[decision, log_probability] : preferences) {
            candidates_.push_back({decision, log_probability, log_probability + draw_gumbel(random)});
        }
        std::ranges::stable_sort(candidates_, std::greater<>(), &Candidate::score);
        candidates_.resize(std::min(count, candidates_.size()));
    }

    const std::vector<Candidate> &candidates() const { return candidates_; }
    // How often they are to be halved.
    int num_halvings() const { return static_cast<int>(std::bit_width(std::max(candidates_.size(), size_t{1}) - 1)); }

    // The next one in turn that is not exhausted, if there is any.
    template <typename IsExhausted>
    const Candidate *next(const IsExhausted &is_exhausted) {
        for (size_t i = 0; i < candidates_.size(); i++) {
            const Candidate &candidate = candidates_[turn_++ % candidates_.size()];
            if (!is_exhausted(candidate.decision)) {
                return &candidate;
            }
        }
        return nullptr;
    }

    // Keeps the better half, the best first. Those without simulations count as the others do on average, weighted by
    // their probabilities.
    template <typename OutcomeOf>
    void halve(const OutcomeOf &outcome_of) {
        std::vector<Outcome> outcomes;
        uint32_t most = 0;
        double weight = 0;
        double sum = 0;
        for (const Candidate &candidate : candidates_) {
            const Outcome &outcome = outcomes.emplace_back(outcome_of(candidate.decision));
            most = std::max(most, outcome.visits);
            if (outcome.value) {
                weight += std::exp(candidate.log_probability);
                sum += std::exp(candidate.log_probability) * *outcome.value;
            }
        }
        const double average = weight > 0 ? sum / weight : 0;
        std::vector<std::pair<double, size_t>> order;
        for (size_t i = 0; i < candidates_.size(); i++) {
            const double value = outcomes[i].value.value_or(average);
            order.emplace_back(-(candidates_[i].score + (visits_scale + most) * value_scale * value), i);
        }
        std::ranges::sort(order);
        std::vector<Candidate> kept;
        for (size_t i = 0; i < (order.size() + 1) / 2; i++) {
            kept.push_back(candidates_[order[i].second]);
        }
        candidates_ = std::move(kept);
        turn_ = 0;
    }

private:
    // The paper's c_visit and c_scale.
    static constexpr double visits_scale = 50;
    static constexpr double value_scale = 0.1;

    std::vector<Candidate> candidates_;
    size_t turn_ = 0;
};

}  // namespace halidegym
