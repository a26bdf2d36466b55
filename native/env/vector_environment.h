#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "env/episode.h"
#include "env/spare_memory.h"
#include "env/worker_pool.h"

namespace halidegym {

// What the environments of a vector tell, beside their observations.
struct Batch {
    explicit Batch(size_t size);

    size_t size() const { return num_legal_decisions.size(); }

    std::vector<int64_t> num_legal_decisions;
    std::vector<int64_t> num_evaluations;    // of the episodes so far
    std::vector<double> cost;                // of complete schedules; NaN elsewhere
    std::unique_ptr<bool[]> terminated;      // no decision is left
    std::unique_ptr<bool[]> illegal_action;  // the last step's
};

// Of arrays with a row for each environment, those of one.
Observation row_of(const Observation &all, const ObservationShape &shape, size_t index);

// Observations that stay in their place, and change by what is new.
class KeptObservations {
public:
    KeptObservations(const ObservationShape &shape, size_t size);

    const Observation &all() const { return all_; }
    void update(size_t index, const Episode &episode);

private:
    std::vector<std::unique_ptr<std::byte[]>> memory_;
    Observation all_;
    std::vector<Observation> rows_;
    std::vector<Shown> shown_;  // by the rows
};

// Environments that take their steps together, in several threads. Each does what it would do alone, whatever the
// number of threads; they may have different problems, as far as these fit the shape. Belongs to one thread at a time.
class VectorEnvironment {
public:
    VectorEnvironment(ObservationShape shape, bool skip_forced, int num_environments, int num_threads);

    // Each call updates the rows of the environments that it is about, and leaves all others as they are. If one of
    // them throws, the others go on; the error names the first.

    // Begins where these say, one for each environment; those without a start go on where they are.
    void start(std::vector<std::optional<Start>> starts);
    // Begins again where the chosen environments began last.
    void restart(std::span<const bool> chosen);
    // Takes an action in each of the chosen environments. Throws InvalidParameter before any of them takes one if an
    // episode is over.
    void step(std::span<const int64_t> actions, std::span<const bool> chosen);

    // What all environments show, in arrays that each call updates from the first request on; 0 before they begin.
    const Observation &kept_observation();
    // Writes the same into other arrays.
    void observe(const Observation &out) const;
    // Writes what these show, each into arrays of its own, of which those of decisions are 0, the stages excepted.
    // Throws InvalidParameter if one has not begun.
    void observe(std::span<const size_t> indices, std::span<const Observation> outs) const;

    // Throws InvalidParameter if there is not a value for each environment.
    void check_length(const char *name, size_t length) const;

    State state(int64_t index) const;
    const Batch &batch() const { return batch_; }
    const ObservationShape &shape() const { return shape_; }
    // For arrays with a row for each environment.
    const SpareMemory &spare_memory() const { return spare_memory_; }

private:
    struct Failure;

    void for_each(std::span<const bool> chosen, const std::function<void(size_t)> &act);
    void update(size_t index, bool is_legal);

    mutable std::atomic_flag in_use_;
    ObservationShape shape_;
    Batch batch_;
    std::deque<Episode> episodes_;
    std::unique_ptr<KeptObservations> kept_;  // once asked for
    SpareMemory spare_memory_;
    mutable WorkerPool pool_;
};

}  // namespace halidegym
