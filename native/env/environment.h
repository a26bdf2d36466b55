#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "env/episode.h"

namespace halidegym {

// An episode that belongs to one thread at a time, and says so; threads can share a Space.
class Environment {
public:
    Environment(ObservationShape shape, bool skip_forced);

    // See Episode.
    void start(Start start);
    bool step(int64_t action);

    State state() const;
    std::optional<Start> here() const;
    // Of a complete schedule, in the cost model's unit.
    std::optional<double> cost() const;
    int64_t num_legal_decisions() const;
    int64_t num_evaluations() const;
    // Indices into the legal decisions that the actions stand for.
    std::vector<int64_t> presented_decisions() const;

    const ObservationShape &shape() const { return episode_.shape(); }
    bool skips_forced() const { return episode_.skips_forced(); }
    void observe(const Observation &out) const;
    void observe(Shown &shown, const Observation &out) const;

private:
    mutable std::atomic_flag in_use_;
    Episode episode_;
};

}  // namespace halidegym
