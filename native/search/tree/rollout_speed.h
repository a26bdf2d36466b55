#pragma once

#include <ctime>
#include <functional>
#include <vector>

#include "search/simulation.h"

namespace halidegym {

// Random simulations from the root per second of CPU time, each with the cost of its end: drawing one child at each
// step, and building all children at each step to choose one of them.
struct RolloutSpeed {
    int64_t drawn = 0;
    double drawn_seconds = 0;
    int64_t built = 0;
    double built_seconds = 0;
};

// Takes turns, so that what else the machine does hits both alike; each side gets at least this time and one rollout.
// `pause` is called before each, and may throw.
template <SearchSpace S>
RolloutSpeed measure_rollout_speed(S &space, double seconds, uint64_t seed, const std::function<void()> &pause) {
    const auto cpu_seconds = [] {
        timespec time;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    const auto timed = [&](const auto &rollout) {
        const double start = cpu_seconds();
        if (const auto end = rollout()) {
            space.cost(*end);
        }
        return cpu_seconds() - start;
    };
    RolloutSpeed speed;
    while (speed.drawn_seconds < seconds || speed.built_seconds < seconds) {
        pause();
        if (speed.drawn_seconds <= speed.built_seconds) {
            const SplitMix64 random(split_seed(seed, static_cast<uint64_t>(speed.drawn++)));
            speed.drawn_seconds += timed(
                [&] { return simulate(space, space.root(), random, {}, {}, [](const auto &) { return true; }).end; });
        } else {
            SplitMix64 random(split_seed(seed, static_cast<uint64_t>(speed.built++)));
            speed.built_seconds += timed([&]() -> std::optional<typename S::State> {
                auto state = space.root();
                while (!space.is_complete(state)) {
                    std::vector<typename S::State> built;
                    auto children = space.children(state);
                    for (const auto &decision : children.decisions()) {
                        built.push_back(children.child(decision));
                    }
                    if (built.empty()) {
                        return std::nullopt;
                    }
                    state = built[uniform_below(random, built.size())];
                }
                return state;
            });
        }
    }
    return speed;
}

}  // namespace halidegym
