#pragma once

#include <memory>
#include <span>
#include <vector>

#include "observation/child_rows.h"
#include "observation/decision_rows.h"
#include "policy/encoded_problem.h"
#include "policy/network.h"
#include "state/state.h"

namespace halidegym {

// A network on one problem, whose encoding it keeps. Immutable, so that threads can share it. What it says of a state
// and of a decision depends neither on other decisions that are asked for nor on what was asked before.
class Policy {
public:
    Policy(std::shared_ptr<const PolicyNetwork> network, const SpaceRef &space);

    // Working memory: each thread needs its own. Results lie in it, valid until the next call.
    class Scratch {
        friend class Policy;
        DecisionRows decisions_;
        std::vector<float> groups_;          // of the state's stages, and the other inputs of its context
        std::vector<float> context_;         // [width]
        std::vector<float> start_;           // [width], where the sums of all decisions begin
        std::vector<float> first_, second_;  // [rows at once * width]
        std::vector<float> logits_;
    };

    const PolicyNetwork &network() const { return *network_; }
    const std::shared_ptr<const Problem> &problem() const { return of_; }

    // Of decisions of the expansion's state, by their descriptors. One forward; nothing is evaluated.
    std::span<const float> blind_logits(Expansion &expansion, std::span<const Decision> decisions,
                                        Scratch &scratch) const;
    // By the features of their children, too, which were read in this order. The feature that compares a child with a
    // greedy schedule is not looked at.
    std::span<const float> child_logits(Expansion &expansion, std::span<const Decision> decisions,
                                        const ChildRows &children, Scratch &scratch) const;
    // Estimates log(cost of the best schedule below the state / cost of a reference) from the state's own cost,
    // relative to the reference.
    float value(const State &state, double relative_cost, Scratch &scratch) const;
    // All of these throw InvalidParameter if the state is of a problem with another number of stages.

private:
    void write_context(const State &state, Scratch &scratch) const;
    std::span<const float> logits(const HeadLayers &head, std::span<const float> of_stages, Expansion &expansion,
                                  std::span<const Decision> decisions, std::span<const float> children,
                                  Scratch &scratch) const;

    std::shared_ptr<const PolicyNetwork> network_;
    std::shared_ptr<const Problem> of_;
    EncodedProblem problem_;
};

}  // namespace halidegym
