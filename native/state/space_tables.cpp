#include "state/space_tables.h"

#include <algorithm>

#include "nest/edits.h"
#include "nest/tilings.h"

namespace halidegym {

uint64_t SpaceTables::SizeKey::hash() const {
    auto h = static_cast<uint64_t>(what);
    for (const int64_t trips : size) {
        h = (h ^ static_cast<uint64_t>(trips)) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h;
}

std::shared_ptr<const SplitChoices> SpaceTables::split_choices(int64_t trips, int64_t growth) {
    return split_choices_.get({trips, growth}, [&] {
        auto outer = halidegym::split_choices(trips, growth);
        std::vector<int64_t> inner(outer.size());
        std::ranges::transform(outer, inner.begin(), [&](int64_t choice) { return ceil_div(trips, choice); });
        const auto one = static_cast<size_t>(std::ranges::find(outer, 1) - outer.begin());
        return SplitChoices{std::move(outer), std::move(inner), one};
    });
}

std::shared_ptr<const BusyTilings> SpaceTables::busy_tilings(const Level &level, const LevelTilings &all) {
    return busy_tilings_.get({level.size, level.stage}, [&] {
        BusyTilings busy{{}, {0}};
        for (int64_t i = 0; i < all.num_all(); i++) {
            const Extents outer = all.tile(i);
            if (keeps_cores_busy(problem_, level, outer)) {
                busy.indices.push_back(static_cast<uint32_t>(i));
                busy.splits_before.push_back(busy.splits_before.back() +
                                             num_whole_loop_tilings(inner_trips(level.size, outer)));
            }
        }
        return busy;
    });
}

std::shared_ptr<const ParallelOptions> SpaceTables::parallel_options(const Node &func, const Extents &size) {
    return parallel_options_.get({size, func.id}, [&] { return halidegym::parallel_options(problem_, func, size); });
}

}  // namespace halidegym
