#include "env/environment.h"

#include "env/turn.h"
#include "problem/error.h"

namespace halidegym {

Environment::Environment(ObservationShape shape, bool skip_forced)
    : episode_(shape, skip_forced, std::make_shared<PositionTrees>()) {}

void Environment::start(Start start) {
    const Turn turn(in_use_);
    episode_.start(std::move(start));
}

bool Environment::step(int64_t action) {
    const Turn turn(in_use_);
    return episode_.step(action);
}

State Environment::state() const {
    const Turn turn(in_use_);
    return episode_.position().state;
}

std::optional<Start> Environment::here() const {
    const Turn turn(in_use_);
    return episode_.here();
}

std::optional<double> Environment::cost() const {
    const Turn turn(in_use_);
    const Position &position = episode_.position();
    return position.state.is_complete() ? std::optional(position.cost) : std::nullopt;
}

int64_t Environment::num_legal_decisions() const {
    const Turn turn(in_use_);
    return episode_.has_started() ? static_cast<int64_t>(episode_.position().num_legal) : 0;
}

int64_t Environment::num_evaluations() const {
    const Turn turn(in_use_);
    return episode_.num_evaluations();
}

std::vector<int64_t> Environment::presented_decisions() const {
    const Turn turn(in_use_);
    std::vector<int64_t> result;
    if (episode_.has_started()) {
        const Position &position = episode_.position();
        for (size_t action = 0; action < position.presented.size(); action++) {
            result.push_back(static_cast<int64_t>(position.decision_index(action)));
        }
    }
    return result;
}

void Environment::observe(const Observation &out) const {
    const Turn turn(in_use_);
    episode_.observe(out);
}

void Environment::observe(Shown &shown, const Observation &out) const {
    const Turn turn(in_use_);
    episode_.observe(shown, out);
}

}  // namespace halidegym
