#pragma once

#include <cstdint>
#include <memory>

#include "nest/level.h"
#include "state/level_tilings.h"
#include "state/parallel_options.h"
#include "state/shared_table.h"

namespace halidegym {

// What follows from trip counts alone, for all states of a space.
class SpaceTables {
public:
    explicit SpaceTables(const Problem &problem) : problem_(problem) {}

    std::shared_ptr<const SplitChoices> split_choices(int64_t trips, int64_t growth);
    std::shared_ptr<const BusyTilings> busy_tilings(const Level &level, const LevelTilings &all);
    // Of a Func whose pure stage has these trip counts at the root.
    std::shared_ptr<const ParallelOptions> parallel_options(const Node &func, const Extents &size);

private:
    struct LoopKey {
        int64_t trips;
        int64_t growth;

        uint64_t hash() const { return static_cast<uint64_t>(trips * 8 + growth); }
        friend bool operator==(const LoopKey &, const LoopKey &) = default;
    };
    struct SizeKey {
        Extents size;
        int what;  // the Func, or the stage

        uint64_t hash() const;
        friend bool operator==(const SizeKey &, const SizeKey &) = default;
    };

    const Problem &problem_;
    SharedTable<LoopKey, SplitChoices, 1 << 10, size_t{4} << 20> split_choices_;
    SharedTable<SizeKey, BusyTilings, 1 << 13, size_t{16} << 20> busy_tilings_;
    SharedTable<SizeKey, ParallelOptions, 1 << 9, size_t{16} << 20> parallel_options_;
};

}  // namespace halidegym
