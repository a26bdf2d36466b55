#include "state/space_tables.h"

#include <algorithm>
#include <cmath>

#include "nest/edits.h"
#include "nest/tilings.h"

namespace halidegym {

namespace {

constexpr double max_idle_ratio = 1.1;

// A bit each; distinct from any for a level that is not parallel.
uint32_t task_loops(const Problem &problem, const Level &level) {
    if (!level.parallel) {
        return 0;
    }
    uint32_t mask = uint32_t{1} << max_loops;
    const auto &loops = problem.stages[static_cast<size_t>(level.stage)].loops;
    for (size_t i = 0; i < loops.size(); i++) {
        mask |= loops[i].pure ? uint32_t{1} << i : 0;
    }
    return mask;
}

}  // namespace

bool keeps_cores_busy(const Problem &problem, const Level &level, const Extents &tile) {
    if (!level.parallel) {
        return true;
    }
    const Stage &stage = problem.stages[static_cast<size_t>(level.stage)];
    int64_t tasks = 1;
    for (int i = 0; i < tile.size(); i++) {
        if (stage.loops[static_cast<size_t>(i)].pure) {
            tasks *= tile[i];
        }
    }
    const double tasks_per_core = static_cast<double>(tasks) / problem.parallelism;
    return std::ceil(tasks_per_core) / tasks_per_core <= max_idle_ratio;
}

LevelTilings::LevelTilings(const Problem &problem, const Level &level)
    : num_loops_(level.size.size()), splits_before_{0} {
    const auto all = halidegym::tilings(level.size);
    for (size_t t = 0; t < all.size(); t++) {
        if (keeps_cores_busy(problem, level, all[t])) {
            indices_.push_back(static_cast<uint32_t>(t));
            trips_.insert(trips_.end(), all[t].begin(), all[t].end());
            splits_before_.push_back(splits_before_.back() + num_whole_loop_tilings(inner_trips(level.size, all[t])));
        }
    }
}

size_t LevelTilings::place_of(uint32_t index) const {
    const auto at = std::ranges::lower_bound(indices_, index);
    return at != indices_.end() && *at == index ? static_cast<size_t>(at - indices_.begin()) : size();
}

Extents LevelTilings::outer(size_t place) const {
    Extents result;
    const auto begin = trips_.begin() + static_cast<ptrdiff_t>(place) * num_loops_;
    std::for_each(begin, begin + num_loops_, [&](int64_t trips) { result.push_back(trips); });
    return result;
}

uint64_t SpaceTables::Key::hash() const {
    uint64_t h = what;
    for (const int64_t trips : size) {
        h = (h ^ static_cast<uint64_t>(trips)) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h;
}

std::shared_ptr<const LevelTilings> SpaceTables::tilings(const Level &level) {
    return tilings_.get({level.size, task_loops(problem_, level)}, [&] { return LevelTilings(problem_, level); });
}

std::shared_ptr<const ParallelOptions> SpaceTables::parallel_options(const Node &func, const Extents &size) {
    return parallel_options_.get({size, static_cast<uint32_t>(func.id)},
                                 [&] { return halidegym::parallel_options(problem_, func, size); });
}

}  // namespace halidegym
