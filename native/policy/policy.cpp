#include "policy/policy.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <string>

#include "observation/scaling.h"
#include "observation/state_row.h"
#include "problem/error.h"

namespace halidegym {

namespace {

// Decisions that go through a head at once, so that what lies between its layers stays in the cache.
constexpr size_t rows_at_once = 64;

// In the order of the network's inputs.
enum Group : size_t { deciding, consumers, first_place };
static_assert(first_place + 3 == num_stage_groups);

constexpr size_t first_placed = static_cast<size_t>(StagePlace::Inlined);

void add_to(std::span<float> sums, std::span<const float> terms) {
    for (size_t i = 0; i < sums.size(); i++) {
        sums[i] += terms[i];
    }
}

}  // namespace

Policy::Policy(std::shared_ptr<const PolicyNetwork> network, const SpaceRef &space)
    : network_(std::move(network)), of_(space->problem), problem_(*network_, ProblemRows(*space)) {}

std::span<const float> Policy::blind_logits(Expansion &expansion, std::span<const Decision> decisions,
                                            Scratch &scratch) const {
    return logits(network_->layers().blind, problem_.blind_stages, expansion, decisions, {}, scratch);
}

std::span<const float> Policy::child_logits(Expansion &expansion, std::span<const Decision> decisions,
                                            const ChildRows &children, Scratch &scratch) const {
    assert(children.rows.size() == decisions.size() * num_child_features);
    return logits(network_->layers().child_reading, problem_.child_reading_stages, expansion, decisions, children.rows,
                  scratch);
}

float Policy::value(const State &state, double relative_cost, Scratch &scratch) const {
    const PolicyLayers &layers = network_->layers();
    write_context(state, scratch);
    scratch.start_ = layers.value_context.bias;
    network_->add(layers.value_context, scratch.context_, scratch.start_);
    const auto decided = static_cast<float>(state.num_decisions_made()) / static_cast<float>(state.num_decisions());
    const std::array<float, 2> known = {0.2f * log_ratio(relative_cost, 1), decided};
    network_->add(layers.value_known, known, scratch.start_, Activation::Relu);
    scratch.logits_ = layers.value_output.bias;
    network_->add(layers.value_output, scratch.start_, scratch.logits_);
    return scratch.logits_.front();
}

void Policy::write_context(const State &state, Scratch &scratch) const {
    const StateRow row(state);
    if (row.places.size() != problem_.num_stages) {
        throw InvalidParameter("the policy was made for a problem of " + std::to_string(problem_.num_stages) +
                               " stages, and the state is of '" + state.space().problem->name + "', which has " +
                               std::to_string(row.places.size()) + "; make a policy for the space of the state");
    }
    const size_t width = network_->width();
    scratch.groups_.assign(num_stage_groups * width + num_state_features, 0.0f);
    std::array<float, num_stage_groups> counts{};
    const auto add = [&](size_t group, size_t stage) {
        counts[group] += 1;
        add_to(std::span(scratch.groups_).subspan(group * width, width),
               std::span(problem_.stages).subspan(stage * width, width));
    };
    for (int i = 0; i < row.num_stages; i++) {
        const auto stage = static_cast<size_t>(row.first_stage + i);
        add(deciding, stage);
        for (const int32_t consumer : problem_.consumers[stage]) {
            const bool is_own = consumer >= row.first_stage && consumer < row.first_stage + row.num_stages;
            if (!is_own && row.places[static_cast<size_t>(consumer)] != static_cast<int8_t>(StagePlace::Inlined)) {
                add(consumers, static_cast<size_t>(consumer));
            }
        }
    }
    for (size_t stage = 0; stage < row.places.size(); stage++) {
        const auto place = static_cast<size_t>(row.places[stage]);
        if (place >= first_placed) {
            add(first_place + place - first_placed, stage);
        }
    }
    for (size_t group = 0; group < num_stage_groups; group++) {
        for (float &value : std::span(scratch.groups_).subspan(group * width, width)) {
            value /= std::max(counts[group], 1.0f);
        }
    }
    const auto features = std::span(scratch.groups_).last<num_state_features>();
    features[static_cast<size_t>(row.phase)] = 1;
    features[2] = row.decided;
    scratch.context_ = problem_.context;
    network_->add(network_->layers().state, scratch.groups_, scratch.context_, Activation::Relu);
}

std::span<const float> Policy::logits(const HeadLayers &head, std::span<const float> of_stages, Expansion &expansion,
                                      std::span<const Decision> decisions, std::span<const float> children,
                                      Scratch &scratch) const {
    const size_t width = network_->width();
    const auto columns = static_cast<size_t>(DecisionRows::columns(network_->config().loops));
    write_context(expansion.state(), scratch);
    scratch.start_ = head.descriptor.bias;
    network_->add(head.context, scratch.context_, scratch.start_);
    scratch.decisions_.describe(expansion, decisions, network_->config().loops);
    scratch.logits_.assign(decisions.size(), head.logit.bias.front());
    for (size_t first = 0; first < decisions.size(); first += rows_at_once) {
        const size_t count = std::min(rows_at_once, decisions.size() - first);
        scratch.first_.clear();
        scratch.second_.clear();
        for (size_t i = first; i < first + count; i++) {
            auto row = scratch.first_.insert(scratch.first_.end(), scratch.start_.begin(), scratch.start_.end());
            const int32_t stage = scratch.decisions_.stages[i];
            if (stage >= 0) {
                add_to({row, width}, of_stages.subspan(static_cast<size_t>(stage) * width, width));
            }
            scratch.second_.insert(scratch.second_.end(), head.hidden.bias.begin(), head.hidden.bias.end());
        }
        if (!head.child.empty()) {
            const size_t from = first * num_child_features + first_child_feature;
            network_->add(head.child, children.subspan(from), num_child_features, scratch.first_);
        }
        network_->add(head.descriptor, std::span(scratch.decisions_.rows).subspan(first * columns), columns,
                      scratch.first_, Activation::Relu);
        network_->add(head.hidden, scratch.first_, scratch.second_, Activation::Relu);
        network_->add(head.logit, scratch.second_, std::span(scratch.logits_).subspan(first, count));
    }
    return scratch.logits_;
}

}  // namespace halidegym
