#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "observation/child_rows.h"
#include "policy/policy.h"
#include "search/spaces/schedule_space.h"

namespace halidegym {

// How decisions are drawn from a policy.
struct GuidanceOptions {
    double temperature = 1;  // of the draws; 0: always the decision that the policy likes most
    // Of half of the simulations, by lot: how sure a policy may be of itself depends on the pipeline, and on how many
    // decisions in a row have to be right.
    std::optional<double> other_temperature;
    // How many decisions have their children read: drawn by the blind head without repetition, and judged by the other
    // one (Kool et al. 2019, "Stochastic Beams and Where to Find Them"). 0: no child is read.
    int shortlist = 0;
    double shortlist_share = 1;  // of the simulations, and of the nodes of a tree; the others are drawn blindly
    // Of a state with more legal decisions the policy looks at an evenly spread part, the first one included.
    int max_decisions = 1024;
    int64_t memory = int64_t{64} << 20;  // bytes, of what is remembered of states
    uint32_t seed = 0;                   // of the shortlists
};

// Throws InvalidParameter if a parameter is out of its range.
void check(const GuidanceOptions &options);

// Schedules of which a policy draws the random decisions, so that it guides every planner that draws any. Of several
// policies, one that is drawn itself draws all decisions of a simulation, or at a node of a tree: what one of them is
// blind for, another one may see. Without a policy it is the cost model: a child of cost c is drawn with a probability
// in proportion to c^(-1 / temperature). What is thought of a state is remembered: if it is met again, it is neither
// put through the network nor are its children evaluated again. It does not depend on what was asked before.
class GuidedSchedules : public ScheduleSpace {
public:
    using Policies = std::vector<std::shared_ptr<const Policy>>;

    GuidedSchedules(SpaceRef space, Policies policies, const GuidanceOptions &options);
    GuidedSchedules(const GuidedSchedules &other);

    template <typename Random>
    void choose_how_to_draw(Random &random) {
        if (policies_.size() > 1) {
            drawing_ = static_cast<size_t>(uniform_below(random, policies_.size()));
        }
        reads_children_ =
            options_.shortlist > 0 && (options_.shortlist_share >= 1 || draw_bool(random, options_.shortlist_share));
        if (options_.other_temperature) {
            temperature_ = draw_bool(random, 0.5) ? *options_.other_temperature : options_.temperature;
        }
    }

    template <typename Random>
    std::optional<Decision> random_decision(Children &children, Random &random) {
        if (const auto only = Expansion::only_decision(children.state())) {
            return only;
        }
        const Distribution &drawn_from = distribution(children.state());
        if (drawn_from.decisions.empty()) {
            return std::nullopt;
        }
        return drawn_from.decisions[place(drawn_from, draw_unit(random))];
    }

    // Of the blind policy, whatever the temperature; of several, the mean of their probabilities.
    std::vector<Preference<Decision>> preferences(const State &state);

    DrawCosts take_draw_costs() { return std::exchange(costs_, {}); }

    const SpaceRef &space_ref() const { return space_; }

private:
    // A distribution over decisions.
    struct Distribution {
        std::vector<Decision> decisions;
        std::vector<float> logits;
        std::vector<float> cumulative;  // probabilities at the first temperature; the last one is 1
    };
    // What is remembered of a state.
    struct Opinion {
        Distribution blind;
        std::optional<Distribution> shortlisted;

        int64_t bytes() const;
    };
    struct HashOfPath {
        size_t operator()(const std::vector<Decision> &path) const { return hash_of_path(path); }
    };

    const Distribution &distribution(const State &state);
    // That one of the policies has.
    Opinion &opinion(size_t policy, const State &state, const std::vector<Decision> &path);
    Opinion form_opinion(size_t policy, const State &state);
    std::vector<float> logits_by_cost(Expansion &expansion);
    Distribution read_shortlist(const State &state, const Opinion &opinion, uint64_t seed);
    // Of the decision that a number in [0, 1) stands for.
    size_t place(const Distribution &distribution, double number) const;

    // By the decisions that led to the state.
    using Opinions = std::unordered_map<std::vector<Decision>, Opinion, HashOfPath>;

    SpaceRef space_;
    Policies policies_;  // none: the cost model
    GuidanceOptions options_;
    size_t drawing_ = 0;           // the policy, in the draws at hand
    bool reads_children_ = false;  // of a shortlist, in these
    double temperature_;           // of these
    Policy::Scratch scratch_;
    ChildReader reader_;
    std::vector<Opinions> opinions_;  // of each policy
    int64_t bytes_ = 0;
    DrawCosts costs_;
};

static_assert(DrawsDecisions<GuidedSchedules>);
static_assert(ChoosesHowToDraw<GuidedSchedules>);
static_assert(PaysForDraws<GuidedSchedules>);
static_assert(PrefersDecisions<GuidedSchedules>);

}  // namespace halidegym
