#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "env/episode.h"
#include "env/worker_pool.h"

namespace halidegym {

// What the environments of a vector show, row after row in the order of the environments.
struct Batch {
    Batch(ObservationShape shape, size_t size);

    // Of one environment.
    Observation observation(size_t index);

    ObservationShape shape;
    std::vector<float> algorithm_features, schedule_features, decisions;
    std::vector<int8_t> stage_mask, scheduled, deciding, phase, action_mask;
    std::vector<int32_t> edges;
    std::vector<int64_t> num_legal_decisions;
    std::vector<uint8_t> is_legal;    // the last action
    std::vector<uint8_t> terminated;  // no decision is left
    std::vector<double> cost;         // of complete schedules; NaN elsewhere
};
