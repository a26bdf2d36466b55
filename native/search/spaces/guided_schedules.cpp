#include "search/spaces/guided_schedules.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "observation/spread.h"
#include "problem/serialize.h"
#include "search/parameters.h"

namespace halidegym {

namespace {

// The places of the `count` largest of logit + Gumbel noise.
std::vector<size_t> sample_without_repetition(std::span<const float> logits, double temperature, size_t count,
                                              SplitMix64 random) {
    std::vector<double> keys(logits.size());
    std::ranges::transform(logits, keys.begin(),
                           [&](float logit) { return logit / std::max(temperature, 1e-3) + draw_gumbel(random); });
    std::vector<size_t> places(logits.size());
    std::iota(places.begin(), places.end(), size_t{0});
    const auto end = places.begin() + static_cast<std::ptrdiff_t>(std::min(count, places.size()));
    std::partial_sort(places.begin(), end, places.end(), [&](size_t a, size_t b) { return keys[a] > keys[b]; });
    places.erase(end, places.end());
    return places;
}

// Probabilities of decisions, each with those before it.
std::vector<float> cumulative(std::span<const float> logits, double temperature) {
    std::vector<float> sums(logits.size());
    if (logits.empty()) {
        return sums;
    }
    const auto highest = std::ranges::max_element(logits);
    if (std::isinf(*highest)) {  // none is acceptable, and each is as good as the others
        return cumulative(std::vector<float>(logits.size(), 0.0f), temperature);
    }
    if (temperature == 0) {
        std::fill(sums.begin() + (highest - logits.begin()), sums.end(), 1.0f);
        return sums;
    }
    std::vector<double> weights(logits.size());
    std::ranges::transform(logits, weights.begin(),
                           [&](float logit) { return std::exp((logit - *highest) / temperature); });
    std::partial_sum(weights.begin(), weights.end(), weights.begin());
    std::ranges::transform(weights, sums.begin(), [&](double sum) { return static_cast<float>(sum / weights.back()); });
    return sums;
}

// Of decisions at temperature 1; -infinity for those that are not acceptable.
std::vector<double> log_probabilities(std::span<const float> logits) {
    std::vector<double> logs(logits.begin(), logits.end());
    const float highest = logits.empty() ? 0 : *std::ranges::max_element(logits);
    if (std::isinf(highest)) {
        return logs;
    }
    double sum = 0;
    for (size_t i = 0; i < logs.size(); i++) {
        logs[i] = logits[i] - highest;
        sum += std::exp(logs[i]);
    }
    for (double &log : logs) {
        log -= std::log(sum);
    }
    return logs;
}

double log_of_sum(double log, double other) {
    return std::max(log, other) + std::log1p(std::exp(-std::abs(log - other)));
}

// Numbers closest to 1 are rounded to it, which is beyond all sums: they stand for the last decision that has a share.
size_t place_in(std::span<const float> sums, double number) {
    const float drawn = std::min(static_cast<float>(number), std::nextafter(1.0f, 0.0f));
    const auto found = std::ranges::upper_bound(sums, drawn);
    return std::min(static_cast<size_t>(found - sums.begin()), sums.size() - 1);
}

}  // namespace

void check(const GuidanceOptions &options) {
    for (const auto &[name, temperature] : {std::pair("temperature", options.temperature),
                                            std::pair("other_temperature", options.other_temperature.value_or(0))}) {
        require_range(name, temperature, temperature >= 0 && std::isfinite(temperature),
                      "a number from 0, for the policy's favourites, on");
    }
    require_at_least("shortlist", options.shortlist, 0);
    require_range("shortlist_share", options.shortlist_share,
                  options.shortlist_share >= 0 && options.shortlist_share <= 1, "from 0 to 1");
    require_at_least("max_decisions", options.max_decisions, 1);
    require_at_least("memory", options.memory, 0);
}

GuidedSchedules::GuidedSchedules(SpaceRef space, Policies policies, const GuidanceOptions &options)
    : ScheduleSpace(space), space_(space), policies_(std::move(policies)), options_(options),
      temperature_(options.temperature), reader_(std::move(space)), opinions_(std::max<size_t>(policies_.size(), 1)) {
    check(options_);
    for (const auto &policy : policies_) {
        require(policy->problem() == space_->problem ||
                    identity_bytes(*policy->problem()) == identity_bytes(*space_->problem),
                "the policy was made for another problem than that of the space; make one for it");
    }
    require(!policies_.empty() || options_.shortlist == 0,
            "shortlist is given without a policy; give one, or leave it out");
}

GuidedSchedules::GuidedSchedules(const GuidedSchedules &other)
    : GuidedSchedules(other.space_, other.policies_, other.options_) {}

size_t GuidedSchedules::place(const Distribution &distribution, double number) const {
    return temperature_ == options_.temperature ? place_in(distribution.cumulative, number)
                                                : place_in(cumulative(distribution.logits, temperature_), number);
}

int64_t GuidedSchedules::Opinion::bytes() const {
    constexpr size_t each = sizeof(Decision) + 2 * sizeof(float);
    const size_t listed = shortlisted ? shortlisted->decisions.size() : 0;
    return static_cast<int64_t>(sizeof(*this) + (blind.decisions.size() + listed) * each);
}

std::vector<Preference<Decision>> GuidedSchedules::preferences(const State &state) {
    const auto path = state.decisions_made();
    const double log_share = -std::log(static_cast<double>(opinions_.size()));
    std::vector<Preference<Decision>> preferences;
    for (size_t policy = 0; policy < opinions_.size(); policy++) {
        const Distribution &blind = opinion(policy, state, path).blind;  // of the same decisions for all
        const std::vector<double> logs = log_probabilities(blind.logits);
        for (size_t i = 0; i < logs.size(); i++) {
            const double log = logs[i] + log_share;
            if (policy == 0) {
                preferences.push_back({blind.decisions[i], log});
            } else {
                preferences[i].log_probability = log_of_sum(preferences[i].log_probability, log);
            }
        }
    }
    std::erase_if(preferences, [](const auto &preference) { return std::isinf(preference.log_probability); });
    std::ranges::stable_sort(preferences, std::greater<>(), &Preference<Decision>::log_probability);
    return preferences;
}

const GuidedSchedules::Distribution &GuidedSchedules::distribution(const State &state) {
    const auto path = state.decisions_made();
    Opinion &known = opinion(drawing_, state, path);
    if (!reads_children_ || known.blind.decisions.empty()) {
        return known.blind;
    }
    if (!known.shortlisted) {
        bytes_ -= known.bytes();
        known.shortlisted = read_shortlist(state, known, split_seed(options_.seed, hash_of_path(path)));
        bytes_ += known.bytes();
    }
    return *known.shortlisted;
}

GuidedSchedules::Opinion &GuidedSchedules::opinion(size_t policy, const State &state,
                                                   const std::vector<Decision> &path) {
    Opinions &opinions = opinions_[policy];
    if (const auto known = opinions.find(path); known != opinions.end()) {
        return known->second;
    }
    if (bytes_ > options_.memory) {
        std::ranges::for_each(opinions_, &Opinions::clear);
        bytes_ = 0;
    }
    Opinion formed = form_opinion(policy, state);
    bytes_ += formed.bytes() + static_cast<int64_t>(path.size() * sizeof(Decision));
    return opinions.emplace(path, std::move(formed)).first->second;
}

GuidedSchedules::Opinion GuidedSchedules::form_opinion(size_t policy, const State &state) {
    Expansion expansion = children_to_rate(state);
    Opinion opinion;
    const auto decisions = expansion.decisions();
    if (decisions.size() <= 1) {
        opinion.blind.decisions.assign(decisions.begin(), decisions.end());
        opinion.blind.logits.resize(decisions.size());
    } else if (!policies_.empty()) {
        opinion.blind.decisions = evenly_spread(decisions, static_cast<size_t>(options_.max_decisions));
        const auto logits = policies_[policy]->blind_logits(expansion, opinion.blind.decisions, scratch_);
        opinion.blind.logits.assign(logits.begin(), logits.end());
        costs_.forwards++;
    } else {
        opinion.blind.decisions.assign(decisions.begin(), decisions.end());
        opinion.blind.logits = logits_by_cost(expansion);
    }
    opinion.blind.cumulative = cumulative(opinion.blind.logits, options_.temperature);
    return opinion;
}

std::vector<float> GuidedSchedules::logits_by_cost(Expansion &expansion) {
    std::vector<float> logits;
    for (const Decision &decision : expansion.decisions()) {
        const auto cost = cost_of_child(expansion, decision);
        logits.push_back(cost ? static_cast<float>(-std::log(*cost)) : -std::numeric_limits<float>::infinity());
    }
    costs_.evaluations += static_cast<int64_t>(logits.size());
    return logits;
}

// What the child-reading head says of some that the blind one has drawn.
GuidedSchedules::Distribution GuidedSchedules::read_shortlist(const State &state, const Opinion &opinion,
                                                              uint64_t seed) {
    const auto places = sample_without_repetition(opinion.blind.logits, options_.temperature,
                                                  static_cast<size_t>(options_.shortlist), SplitMix64(seed));
    Distribution listed;
    for (const size_t place : places) {
        listed.decisions.push_back(opinion.blind.decisions[place]);
    }
    Expansion expansion = unlisted_children_to_rate(state);
    const ChildRows children = reader_.read(expansion, listed.decisions, 1.0);
    costs_.evaluations += static_cast<int64_t>(listed.decisions.size());
    const auto judged = policies_[drawing_]->child_logits(expansion, listed.decisions, children, scratch_);
    costs_.forwards++;
    listed.logits.assign(judged.begin(), judged.end());
    for (size_t i = 0; i < listed.logits.size(); i++) {
        if (std::isnan(children.costs[i])) {
            listed.logits[i] = -std::numeric_limits<float>::infinity();
        }
    }
    listed.cumulative = cumulative(listed.logits, options_.temperature);
    return listed;
}

}  // namespace halidegym
