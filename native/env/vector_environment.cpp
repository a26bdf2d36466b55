#include "env/vector_environment.h"

#include <cstring>
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

ObservationShape checked(const ObservationShape &shape) {
    check(shape);
    return shape;
}

}  // namespace

Batch::Batch(const ObservationShape &shape, size_t size)
    : rows(size), num_legal_decisions(size), num_evaluations(size),
      cost(size, std::numeric_limits<double>::quiet_NaN()), terminated(allocate<bool>(size)),
      illegal_action(allocate<bool>(size)) {
    for_each_array(all, shape, [&]<typename T>(const char *, std::span<T> &part, int length) {
        part = allocate<T>(size * static_cast<size_t>(length));
    });
    for (size_t i = 0; i < size; i++) {
        rows[i] = all;
        for_each_array(rows[i], shape, [&](const char *, auto &part, int length) {
            part = part.subspan(i * static_cast<size_t>(length), static_cast<size_t>(length));
        });
    }
}

template <typename T>
std::span<T> Batch::allocate(size_t count) {
    memory_.push_back(std::make_unique<std::byte[]>(count * sizeof(T)));
    return {reinterpret_cast<T *>(memory_.back().get()), count};
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
    : shape_(checked(shape)), batch_(shape, checked_num_envs(num_environments)), shown_(batch_.size()),
      pool_(num_threads) {
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

void VectorEnvironment::copy_to(const Observation &out) const {
    const Turn turn(in_use_);
    struct Column {
        std::byte *to;
        const std::byte *from;
        size_t bytes;  // of a row
    };
    std::vector<Column> columns;
    Observation from = batch_.all, to = out;
    for_each_array(from, shape_, [&]<typename T>(const char *, std::span<T> &part, int length) {
        columns.push_back(
            {nullptr, reinterpret_cast<const std::byte *>(part.data()), static_cast<size_t>(length) * sizeof(T)});
    });
    auto column = columns.begin();
    for_each_array(to, shape_,
                   [&](const char *, auto &part, int) { (column++)->to = reinterpret_cast<std::byte *>(part.data()); });
    pool_.run(batch_.size(), [&](size_t begin, size_t end) {
        for (const Column &c : columns) {
            std::memcpy(c.to + begin * c.bytes, c.from + begin * c.bytes, (end - begin) * c.bytes);
        }
    });
}

void VectorEnvironment::update(size_t index, bool is_legal) {
    const Position &position = episodes_[index].position();
    episodes_[index].observe(shown_[index], batch_.rows[index]);
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
