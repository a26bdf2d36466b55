#include "env/vector_environment.h"

#include <exception>
#include <limits>
#include <mutex>
#include <string>

#include "env/turn.h"
#include "problem/error.h"

namespace halidegym {

namespace {

size_t checked_num_envs(int num_environments) {
    if (num_environments < 1) {
        throw InvalidParameter("num_envs=" + std::to_string(num_environments) + " is too few; give at least 1");
    }
    return static_cast<size_t>(num_environments);
}

}  // namespace

Batch::Batch(size_t size)
    : num_legal_decisions(size), num_evaluations(size), cost(size, std::numeric_limits<double>::quiet_NaN()),
      terminated(std::make_unique<bool[]>(size)), illegal_action(std::make_unique<bool[]>(size)) {}

Observation row_of(const Observation &all, const ObservationShape &shape, size_t index) {
    Observation row = all;
    for_each_array(row, shape, [&](const char *, auto &part, int length) {
        part = part.subspan(index * static_cast<size_t>(length), static_cast<size_t>(length));
    });
    return row;
}

KeptObservations::KeptObservations(const ObservationShape &shape, size_t size) : shown_(size) {
    for_each_array(all_, shape, [&]<typename T>(const char *, std::span<T> &part, int length) {
        const size_t count = size * static_cast<size_t>(length);
        memory_.push_back(std::make_unique<std::byte[]>(count * sizeof(T)));
        part = {reinterpret_cast<T *>(memory_.back().get()), count};
    });
    for (size_t i = 0; i < size; i++) {
        rows_.push_back(row_of(all_, shape, i));
    }
}

void KeptObservations::update(size_t index, const Episode &episode) {
    episode.observe(shown_[index], rows_[index]);
}

// The error of the first environment that has one.
struct VectorEnvironment::Failure {
    std::mutex mutex;
    size_t index = 0;
    std::exception_ptr error;

    void note(size_t failed) {
        const std::scoped_lock lock(mutex);
        if (!error || failed < index) {
            index = failed;
            error = std::current_exception();
        }
    }

    void rethrow() const {
        if (!error) {
            return;
        }
        const std::string where = "environment " + std::to_string(index) + ": ";
        try {
            std::rethrow_exception(error);
        } catch (const InvalidParameter &e) {
            throw InvalidParameter(where + e.what());
        } catch (const InternalError &e) {
            throw InternalError(where + e.what());
        } catch (const Error &e) {
            throw Error(where + e.what());
        }
    }
};

VectorEnvironment::VectorEnvironment(ObservationShape shape, bool skip_forced, int num_environments, int num_threads)
    : shape_(checked(shape)), batch_(checked_num_envs(num_environments)), pool_(num_threads) {
    const auto trees = std::make_shared<PositionTrees>();
    for (size_t i = 0; i < batch_.size(); i++) {
        episodes_.emplace_back(shape, skip_forced, trees);
    }
}

void VectorEnvironment::start(std::vector<std::optional<Start>> starts) {
    const Turn turn(in_use_);
    check_length("states", starts.size());
    for_each({}, [&](size_t i) {
        if (starts[i]) {
            episodes_[i].start(*std::move(starts[i]));
            update(i, true);
        }
    });
}

void VectorEnvironment::restart(std::span<const bool> chosen) {
    const Turn turn(in_use_);
    check_length("chosen", chosen.size());
    for_each(chosen, [&](size_t i) {
        episodes_[i].restart();
        update(i, true);
    });
}

void VectorEnvironment::step(std::span<const int64_t> actions, std::span<const bool> chosen) {
    const Turn turn(in_use_);
    check_length("actions", actions.size());
    check_length("chosen", chosen.size());
    for (size_t i = 0; i < actions.size(); i++) {
        if (chosen[i] && batch_.num_legal_decisions[i] == 0) {
            throw InvalidParameter(
                "environment " + std::to_string(i) +
                ": no decision is left, or the episode has not begun; start it, or do not choose it");
        }
    }
    for_each(chosen, [&](size_t i) { update(i, episodes_[i].step(actions[i])); });
}

void VectorEnvironment::check_length(const char *name, size_t length) const {
    if (length != batch_.size()) {
        throw InvalidParameter(std::string(name) + " has " + std::to_string(length) +
                               " elements; give one for each of " + std::to_string(batch_.size()) + " environments");
    }
}

void VectorEnvironment::for_each(std::span<const bool> chosen, const std::function<void(size_t)> &act) {
    Failure failure;
    pool_.run(batch_.size(), [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++) {
            try {
                if (chosen.empty() || chosen[i]) {
                    act(i);
                }
            } catch (...) {
                failure.note(i);
            }
        }
    });
    failure.rethrow();
}

const Observation &VectorEnvironment::kept_observation() {
    const Turn turn(in_use_);
    if (!kept_) {
        kept_ = std::make_unique<KeptObservations>(shape_, batch_.size());
        for (size_t i = 0; i < batch_.size(); i++) {
            if (episodes_[i].has_started()) {
                kept_->update(i, episodes_[i]);
            }
        }
    }
    return kept_->all();
}

void VectorEnvironment::observe(const Observation &out) const {
    const Turn turn(in_use_);
    pool_.run(batch_.size(), [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++) {
            Observation row = row_of(out, shape_, i);
            if (episodes_[i].has_started()) {
                episodes_[i].observe(row);
            } else {
                for_each_array(row, shape_, [](const char *, auto &part, int) { clear(part); });
            }
        }
    });
}

void VectorEnvironment::observe(std::span<const size_t> indices, std::span<const Observation> outs) const {
    const Turn turn(in_use_);
    for (const size_t index : indices) {
        episodes_[index].position();  // throws
    }
    pool_.run(indices.size(), [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++) {
            Shown shown = Shown::blank(outs[i]);
            episodes_[indices[i]].observe(shown, outs[i]);
        }
    });
}

void VectorEnvironment::update(size_t index, bool is_legal) {
    const Position &position = episodes_[index].position();
    if (kept_) {
        kept_->update(index, episodes_[index]);
    }
    batch_.num_legal_decisions[index] = static_cast<int64_t>(position.num_legal);
    batch_.num_evaluations[index] = episodes_[index].num_evaluations();
    batch_.cost[index] = position.cost;
    batch_.terminated[index] = position.is_over();
    batch_.illegal_action[index] = !is_legal;
}

State VectorEnvironment::state(int64_t index) const {
    const Turn turn(in_use_);
    if (index < 0 || static_cast<size_t>(index) >= batch_.size()) {
        throw InvalidParameter("There is no environment " + std::to_string(index) + " of " +
                               std::to_string(batch_.size()) + "; give an index below that");
    }
    return episodes_[static_cast<size_t>(index)].position().state;
}

}  // namespace halidegym
