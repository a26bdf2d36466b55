#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "problem/error.h"
#include "search/spaces/search_space.h"
#include "search/spaces/splitmix.h"

// What a search space may offer beyond the concept, each with what planners do without it. A space that means to offer
// one asserts the concept, so that a misspelt member is an error and not a slow search.
namespace halidegym {

// Has limits that leave out states; their names, for people to read.
template <typename S>
concept HasLimits = SearchSpace<S> && requires {
    { S::limits } -> std::convertible_to<const char *>;
};

// That a search found nothing, what allows it more, and what else may help.
template <SearchSpace S>
SearchExhausted exhausted(const std::string &what, const std::string &more = "") {
    std::string limits = "choice of decisions in the search space";
    if constexpr (HasLimits<S>) {
        limits = S::limits;
    }
    return SearchExhausted(what + "; a larger " + limits + " allows more of them" + more);
}

// A child, with the decision that leads to it.
template <SearchSpace S>
using Step = std::pair<typename S::Decision, typename S::State>;

// Can build the children of decisions that are known already without listing all.
template <typename S>
concept BuildsUnlistedChildren = SearchSpace<S> && requires(S &space, const typename S::State &state) {
    { space.unlisted_children(state) } -> std::same_as<typename S::Children>;
};

// Children that are not asked for their decisions.
template <SearchSpace S>
typename S::Children unlisted_children(S &space, const typename S::State &state) {
    if constexpr (BuildsUnlistedChildren<S>) {
        return space.unlisted_children(state);
    } else {
        return space.children(state);
    }
}

// Can draw a decision without listing all.
template <typename S, typename Random = SplitMix64>
concept DrawsDecisions = SearchSpace<S> && requires(S &space, typename S::Children &children, Random &random) {
    { space.random_decision(children, random) } -> std::same_as<std::optional<typename S::Decision>>;
};

// A decision drawn uniformly among the legal ones. Draws no number if there is no choice; empty if there is no decision
// at all.
template <SearchSpace S, typename Random>
std::optional<typename S::Decision> random_decision(S &space, typename S::Children &children, Random &random) {
    if constexpr (DrawsDecisions<S, Random>) {
        return space.random_decision(children, random);
    } else {
        const auto decisions = children.decisions();
        if (decisions.empty()) {
            return std::nullopt;
        }
        return decisions[decisions.size() > 1 ? uniform_below(random, decisions.size()) : 0];
    }
}

// Has several ways to draw, one of which all draws of a simulation are made in.
template <typename S, typename Random = SplitMix64>
concept ChoosesHowToDraw = SearchSpace<S> && requires(S &space, Random &random) { space.choose_how_to_draw(random); };

// For the draws from now on.
template <SearchSpace S, typename Random>
void choose_how_to_draw(S &space, Random &random) {
    if constexpr (ChoosesHowToDraw<S, Random>) {
        space.choose_how_to_draw(random);
    }
}

// What drawing decisions has taken: states that were put through a network, and children that it has read.
struct DrawCosts {
    int64_t evaluations = 0;
    int64_t forwards = 0;
};

// Draws decisions at a cost, which it counts.
template <typename S>
concept PaysForDraws = SearchSpace<S> && requires(S &space) {
    { space.take_draw_costs() } -> std::same_as<DrawCosts>;
};

// Since this was asked last.
template <SearchSpace S>
DrawCosts take_draw_costs(S &space) {
    if constexpr (PaysForDraws<S>) {
        return space.take_draw_costs();
    } else {
        return {};
    }
}

// A decision, and the logarithm of the probability with which a policy takes it.
template <typename Decision>
struct Preference {
    Decision decision;
    double log_probability;
};

// Can tell which decisions of an incomplete state it prefers: the likeliest first, and perhaps not all of those that
// are legal. What that takes is counted as for draws.
template <typename S>
concept PrefersDecisions = SearchSpace<S> && requires(S &space, const typename S::State &state) {
    { space.preferences(state) } -> std::same_as<std::vector<Preference<typename S::Decision>>>;
};

// Without preferences each is as likely as the others.
template <SearchSpace S>
std::vector<Preference<typename S::Decision>> preferences_of(S &space, const typename S::State &state) {
    if constexpr (PrefersDecisions<S>) {
        return space.preferences(state);
    } else {
        auto children = space.children(state);
        const auto decisions = children.decisions();
        std::vector<Preference<typename S::Decision>> preferences;
        for (const auto &decision : decisions) {
            preferences.push_back({decision, -std::log(static_cast<double>(decisions.size()))});
        }
        return preferences;
    }
}

// Can tell whether a decision is legal without listing all.
template <typename S>
concept KnowsLegality =
    SearchSpace<S> && requires(S &space, typename S::Children &children, const typename S::Decision &decision) {
        { space.is_legal(children, decision) } -> std::same_as<bool>;
    };

// Whether a decision, which may belong to another state, is one of these children.
template <SearchSpace S>
bool is_legal(S &space, typename S::Children &children, const typename S::Decision &decision) {
    if constexpr (KnowsLegality<S>) {
        return space.is_legal(children, decision);
    } else {
        const auto decisions = children.decisions();
        return std::find(decisions.begin(), decisions.end(), decision) != decisions.end();
    }
}

// Children for `random_decision` and `is_legal`: without a list if neither needs one.
template <SearchSpace S>
typename S::Children children_to_draw_from(S &space, const typename S::State &state) {
    if constexpr (DrawsDecisions<S> && KnowsLegality<S>) {
        return unlisted_children(space, state);
    } else {
        return space.children(state);
    }
}

// Can build the states of a walk faster, as all of them but the last are left at once.
template <typename S>
concept BuildsWalks = SearchSpace<S> && requires(S &space, typename S::State &state, typename S::Children &children,
                                                 const typename S::Decision &decision) {
    space.start_walk(state);
    { space.children_of_walk(state) } -> std::same_as<typename S::Children>;
    { space.next_of_walk(std::move(state), children, decision) } -> std::same_as<typename S::State>;
};

// From now on the states of a walk follow on from this one.
template <SearchSpace S>
void start_walk(S &space, const typename S::State &state) {
    if constexpr (BuildsWalks<S>) {
        space.start_walk(state);
    }
}

// Children of the last state of the walk to draw from, which must not outlive it.
template <SearchSpace S>
typename S::Children children_of_walk(S &space, const typename S::State &state) {
    if constexpr (BuildsWalks<S>) {
        return space.children_of_walk(state);
    } else {
        return children_to_draw_from(space, state);
    }
}

// What the last state of the walk becomes: one of its children, with which the walk goes on.
template <SearchSpace S>
typename S::State next_of_walk(S &space, typename S::State &&state, typename S::Children &children,
                               const typename S::Decision &decision) {
    if constexpr (BuildsWalks<S>) {
        return space.next_of_walk(std::move(state), children, decision);
    } else {
        return children.child(decision);
    }
}

// Can tell whether there is a choice without listing the decisions.
template <typename S>
concept KnowsForcedDecisions = SearchSpace<S> && requires(S &space, const typename S::State &state) {
    { space.only_decision(state) } -> std::same_as<std::optional<typename S::Decision>>;
};

// The step that an incomplete state leaves no choice about, if it is such a state.
template <SearchSpace S>
std::optional<Step<S>> forced_step(S &space, const typename S::State &state) {
    if constexpr (KnowsForcedDecisions<S>) {
        const auto only = space.only_decision(state);
        return only ? std::optional(Step<S>(*only, space.apply(state, *only))) : std::nullopt;
    } else {
        auto children = space.children(state);
        const auto decisions = children.decisions();
        return decisions.size() == 1 ? std::optional(Step<S>(decisions[0], children.child(decisions[0])))
                                     : std::nullopt;
    }
}

// Rates several states at once, faster than one after another.
template <typename S>
concept RatesBatches = SearchSpace<S> && requires(S &space, const std::vector<const typename S::State *> &states) {
    { space.costs(states) } -> std::same_as<std::vector<std::optional<double>>>;
};

template <SearchSpace S>
std::vector<std::optional<double>> costs_of(S &space, const std::vector<const typename S::State *> &states) {
    if constexpr (RatesBatches<S>) {
        return space.costs(states);
    } else {
        std::vector<std::optional<double>> costs;
        for (const auto *state : states) {
            costs.push_back(space.cost(*state));
        }
        return costs;
    }
}

// Can rate a child without building its state.
template <typename S>
concept RatesChildren =
    SearchSpace<S> && requires(S &space, typename S::Children &children, const typename S::Decision &decision) {
        { space.cost_of_child(children, decision) } -> std::same_as<std::optional<double>>;
    };

template <SearchSpace S>
std::optional<double> cost_of_child(S &space, typename S::Children &children, const typename S::Decision &decision) {
    if constexpr (RatesChildren<S>) {
        return space.cost_of_child(children, decision);
    } else {
        return space.cost(children.child(decision));
    }
}

// Can list children that are only rated, which leaves nothing to be kept.
template <typename S>
concept ListsChildrenToRate = RatesChildren<S> && requires(S &space, const typename S::State &state) {
    { space.children_to_rate(state) } -> std::same_as<typename S::Children>;
};

// Children to rate until the space is asked for those of another state; none of them is built.
template <SearchSpace S>
typename S::Children children_to_rate(S &space, const typename S::State &state) {
    if constexpr (ListsChildrenToRate<S>) {
        return space.children_to_rate(state);
    } else {
        return space.children(state);
    }
}

// One of those after all, built for good.
template <SearchSpace S>
typename S::State lasting_child(S &space, const typename S::State &state, typename S::Children &to_rate,
                                const typename S::Decision &decision) {
    if constexpr (ListsChildrenToRate<S>) {
        return space.apply(state, decision);
    } else {
        return to_rate.child(decision);
    }
}

// Can show a child without building its state: something with a `hash(depth)`, until the space is asked for anything
// else.
template <typename S>
concept ShowsChildren = SearchSpace<S> && requires(S &space, typename S::Children &children,
                                                   const typename S::Decision &decision, int depth) {
    { space.glimpse_of_child(children, decision).hash(depth) } -> std::same_as<uint64_t>;
};

template <typename S>
struct GlimpseOf {
    using Type = std::monostate;
};
template <ShowsChildren S>
struct GlimpseOf<S> {
    using Type = decltype(std::declval<S &>().glimpse_of_child(std::declval<typename S::Children &>(),
                                                               std::declval<const typename S::Decision &>()));
};

// A child that is looked at first, and built only if it is wanted.
template <SearchSpace S>
class ProspectiveChild {
public:
    // Belongs to the siblings, which must outlive it.
    ProspectiveChild(S &space, typename S::Children &siblings, const typename S::Decision &decision)
        : space_(space), siblings_(siblings), decision_(decision) {}

    // While the space is asked for nothing else.
    uint64_t hash(int depth) {
        if constexpr (ShowsChildren<S>) {
            if (!glimpse_) {
                glimpse_.emplace(space_.glimpse_of_child(siblings_, decision_));
            }
            return glimpse_->hash(depth);
        } else {
            return space_.hash(state(), depth);
        }
    }
    const typename S::State &state() {
        if (!state_) {
            state_.emplace(siblings_.child(decision_));
        }
        return *state_;
    }

private:
    S &space_;
    typename S::Children &siblings_;
    const typename S::Decision decision_;
    std::optional<typename S::State> state_;
    std::optional<typename GlimpseOf<S>::Type> glimpse_;
};

// Tells sequences of decisions apart by a number, so that what they lead to is looked at once.
template <typename S>
concept HashesPaths = SearchSpace<S> && requires(const S &space, std::span<const typename S::Decision> path) {
    { space.hash_of_path(path) } -> std::same_as<uint64_t>;
};

// The sequences of decisions that a search has seen.
template <SearchSpace S>
class SeenPaths {
public:
    // Returns whether it is new, which all are of a space that cannot tell.
    bool insert(const S &space, std::span<const typename S::Decision> path) {
        if constexpr (HashesPaths<S>) {
            return hashes_.insert(space.hash_of_path(path)).second;
        } else {
            return true;
        }
    }

private:
    std::unordered_set<uint64_t> hashes_;
};

// May have somebody who watches which states are rated.
template <typename S>
concept MayBeWatched = SearchSpace<S> && requires(const S &space) {
    { space.is_watched() } -> std::same_as<bool>;
};

// Whether each state has to be rated whenever its cost is asked for, and one after another.
template <SearchSpace S>
bool is_watched(const S &space) {
    if constexpr (MayBeWatched<S>) {
        return space.is_watched();
    } else {
        return false;
    }
}

}  // namespace halidegym
