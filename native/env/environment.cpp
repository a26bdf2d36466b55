#include "env/environment.h"

#include <algorithm>
#include <string>

#include "problem/error.h"

namespace halidegym {

namespace {

template <typename T>
void copy_and_pad(const std::vector<T> &values, std::span<T> out, T padding) {
    std::fill(std::copy(values.begin(), values.end(), out.begin()), out.end(), padding);
}

}  // namespace

// The time of one public call; there is none that calls another.
class Environment::Turn {
public:
    explicit Turn(const Environment &environment) : in_use_(environment.in_use_) {
        if (in_use_.test_and_set(std::memory_order_acquire)) {
            throw Error("Another thread is using this environment; give each thread an environment of its own");
        }
    }
    ~Turn() { in_use_.clear(std::memory_order_release); }
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

private:
    std::atomic_flag &in_use_;
};

Environment::Environment(ObservationShape shape, bool skip_forced) : shape_(shape), skip_forced_(skip_forced) {
    if (std::min({shape.stages, shape.edges, shape.loops, shape.decisions}) < 1) {
        throw InvalidParameter(
            "An observation has no room for a stage, an edge, a loop or a decision; make each size at "
            "least 1");
    }
}

void Environment::start(State state) {
    const Turn turn(*this);
    const Problem &problem = *state.space().problem;
    const ObservationShape needed = shape_of(problem);
    if (!shape_.holds(needed)) {
        throw InvalidParameter("The problem of '" + problem.name + "' has " + std::to_string(needed.stages) +
                               " stages, " + std::to_string(needed.edges) + " edges and up to " +
                               std::to_string(needed.loops) + " loops a stage; the environment has room for " +
                               std::to_string(shape_.stages) + ", " + std::to_string(shape_.edges) + " and " +
                               std::to_string(shape_.loops) + ": make it for this problem too");
    }
    if (!state_ || state_->space_ref() != state.space_ref()) {
        evaluator_.emplace(state.space_ref());
        problem_observation_ = observe_problem(problem);
    }
    state_ = std::move(state);
    expansion_.emplace(*state_);
    while (skip_forced_ && num_legal() == 1 && state_->num_decisions_made() + 1 < state_->num_decisions()) {
        take(0);
    }
}

bool Environment::step(int64_t action) {
    const Turn turn(*this);
    const auto count = static_cast<int64_t>(num_presented());
    if (count == 0) {
        throw InvalidParameter("The episode is over, no decision is left; reset the environment");
    }
    const bool is_legal = action >= 0 && action < count;
    take(decision_of(static_cast<size_t>((action % count + count) % count)));
    while (skip_forced_ && num_legal() == 1) {
        take(0);
    }
    return is_legal;
}

void Environment::take(size_t index) {
    state_ = expansion_->child(expansion_->decisions()[index]);
    expansion_.emplace(*state_);
}

State Environment::state() const {
    const Turn turn(*this);
    return current();
}

std::optional<State> Environment::state_if_any() const {
    const Turn turn(*this);
    return state_;
}

const State &Environment::current() const {
    if (!state_) {
        throw InvalidParameter("The environment is in no state yet; reset it");
    }
    return *state_;
}

double Environment::cost() {
    const Turn turn(*this);
    if (!current().is_complete()) {
        throw InvalidParameter("The schedule is not complete; its cost is known after the last decision");
    }
    return state_->cost(*evaluator_);
}

int64_t Environment::num_legal_decisions() const {
    const Turn turn(*this);
    return num_legal();
}

int64_t Environment::num_legal() const {
    return expansion_ ? static_cast<int64_t>(expansion_->decisions().size()) : 0;
}

size_t Environment::num_presented() const {
    return static_cast<size_t>(std::min<int64_t>(num_legal(), shape_.decisions));
}

size_t Environment::decision_of(size_t action) const {
    return action * static_cast<size_t>(num_legal()) / num_presented();
}

std::vector<int64_t> Environment::presented_decisions() const {
    const Turn turn(*this);
    std::vector<int64_t> result(num_presented());
    for (size_t action = 0; action < result.size(); action++) {
        result[action] = static_cast<int64_t>(decision_of(action));
    }
    return result;
}

void Environment::observe(const Observation &out) {
    const Turn turn(*this);
    copy_and_pad(problem_observation_.algorithm_features, out.algorithm_features, 0.0f);
    copy_and_pad(problem_observation_.edges, out.edges, int32_t{-1});
    write_schedule(current(), evaluator_->features(state_->nest()), out);
    std::vector<Decision> presented;
    presented.reserve(num_presented());
    for (size_t action = 0; action < num_presented(); action++) {
        presented.push_back(expansion_->decisions()[decision_of(action)]);
    }
    write_decisions(*expansion_, presented, shape_, out);
}

}  // namespace halidegym
