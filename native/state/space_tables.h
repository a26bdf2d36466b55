#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nest/level.h"
#include "state/parallel_options.h"
#include "state/shared_table.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

// The idle-core filter of section 10, step 3: a tiling of a parallel level must not leave more than a tenth of the
// cores idle.
bool keeps_cores_busy(const Problem &problem, const Level &level, const Extents &tile);

// The tilings of a level between whose halves a Func may be placed, and how many candidates each gives.
class LevelTilings {
public:
    LevelTilings(const Problem &problem, const Level &level);

    // How many may be used: all of them but those of parallel levels that do not keep the cores busy.
    size_t size() const { return indices_.size(); }
    // The place of one among all tilings, used or not (section 9).
    uint32_t index(size_t place) const { return indices_[place]; }
    // Where one with this index is among those that may be used, and `size()` if it is none of them.
    size_t place_of(uint32_t index) const;
    // Outer trip counts.
    Extents outer(size_t place) const;
    // Whole-loop tilings of the inner halves of all tilings before this one.
    int64_t splits_before(size_t place) const { return splits_before_[place]; }

    size_t spilled_bytes() const {
        return trips_.size() * sizeof(int64_t) + indices_.size() * sizeof(uint32_t) +
               splits_before_.size() * sizeof(int64_t);
    }

private:
    int num_loops_;
    std::vector<int64_t> trips_;  // of one tiling after the other
    std::vector<uint32_t> indices_;
    std::vector<int64_t> splits_before_;  // one more
};

// What follows from trip counts alone, for all states of a space.
class SpaceTables {
public:
    explicit SpaceTables(const Problem &problem) : problem_(problem) {}

    std::shared_ptr<const LevelTilings> tilings(const Level &level);
    // Of a Func whose pure stage has these trip counts at the root.
    std::shared_ptr<const ParallelOptions> parallel_options(const Node &func, const Extents &size);

private:
    struct Key {
        Extents size;
        uint32_t what;  // the Func, or which loops tell how many tasks a parallel level has

        uint64_t hash() const;
        friend bool operator==(const Key &, const Key &) = default;
    };

    const Problem &problem_;
    SharedTable<Key, LevelTilings, 1 << 13, size_t{32} << 20> tilings_;
    SharedTable<Key, ParallelOptions, 1 << 9, size_t{16} << 20> parallel_options_;
};

}  // namespace halidegym
