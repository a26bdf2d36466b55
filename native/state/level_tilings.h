#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nest/edits.h"
#include "nest/level.h"
#include "nest/recycled_memory.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

// Outer trip counts to try for one loop: first all of its trips, 1 somewhere.
struct SplitChoices {
    std::vector<int64_t> trips;
    std::vector<int64_t> inner_trips;  // that each of them leaves
    size_t place_of_one;

    size_t spilled_bytes() const { return 2 * trips.size() * sizeof(int64_t); }
};

// Which of all tilings of a parallel level keep its cores busy, and how many splits their inner halves have.
struct BusyTilings {
    std::vector<uint32_t> indices;
    std::vector<int64_t> splits_before;  // one more

    size_t spilled_bytes() const { return indices.size() * sizeof(uint32_t) + splits_before.size() * sizeof(int64_t); }
};

class SpaceTables;

// The tilings of a level between whose halves a Func may be placed, known without listing them: they are the product of
// the choices of each loop, those of the last loop changing fastest, without the whole size, which is the first of all,
// and the tuple of ones (section 17.3).
class LevelTilings : public Recycled {
public:
    LevelTilings(SpaceTables &tables, const Level &level);

    // How many may be used: all of them but those of a parallel level that do not keep its cores busy.
    size_t size() const { return busy_ ? busy_->indices.size() : static_cast<size_t>(num_all_); }
    // The place among all tilings (section 9) of one that may be used.
    uint32_t index(size_t place) const { return busy_ ? busy_->indices[place] : static_cast<uint32_t>(place); }
    // The place among those that may be used; `size()` if it is none of them.
    size_t place_of(uint32_t index) const;
    Extents outer(size_t place) const;
    // Calls `visit(place, outer, inner)` with the trips of both halves for all that may be used, in their order.
    template <typename Visit>
    void for_each(Visit visit) const;
    // How often the inner halves of all tilings before this place can be split into whole loops.
    int64_t splits_before(size_t place) const;
    // The tiling that a candidate belongs to, if each has `others` and one for each split of its inner half.
    struct Share {
        size_t place;
        int64_t begin;  // of its candidates among all
        int64_t size;
    };
    Share share_of(int64_t candidate, int64_t others) const;

    // Of all tilings.
    int64_t num_all() const { return num_all_; }
    Extents tile(int64_t index) const;

private:
    // In the product.
    int64_t rank(int64_t index) const;
    int64_t splits_before_rank(int64_t rank) const;
    // Of the whole product, by rank rather than place.
    Share share_of_product(int64_t candidate, int64_t others) const;

    Extents size_;  // of the level
    int num_loops_;
    std::array<const SplitChoices *, max_loops> choices_;        // of each loop
    std::vector<std::shared_ptr<const SplitChoices>> overflow_;  // of them, those that the space does not keep
    int64_t num_all_;
    int64_t rank_of_ones_ = 0;
    int64_t splits_of_ones_;
    std::shared_ptr<const BusyTilings> busy_;  // null unless the level is parallel
};

// Counts through the product as an odometer does.
template <typename Visit>
void LevelTilings::for_each(Visit visit) const {
    if (busy_ || num_loops_ == 0) {
        for (size_t place = 0; place < size(); place++) {
            const Extents outer = this->outer(place);
            visit(place, outer, inner_trips(size_, outer));
        }
        return;
    }
    std::array<size_t, max_loops> places{};
    Extents outer = size_;
    Extents inner(num_loops_, 1);
    int64_t rank = 0;
    for (int64_t place = 0; place < num_all_; rank++) {
        if (rank != 0 && rank != rank_of_ones_) {
            visit(static_cast<size_t>(place++), std::as_const(outer), std::as_const(inner));
        }
        for (int i = num_loops_ - 1; i >= 0; i--) {
            const SplitChoices &choices = *choices_[static_cast<size_t>(i)];
            size_t &choice = places[static_cast<size_t>(i)];
            choice = choice + 1 < choices.trips.size() ? choice + 1 : 0;
            outer[i] = choices.trips[choice];
            inner[i] = choices.inner_trips[choice];
            if (choice > 0) {
                break;
            }
        }
    }
}

// The idle-core filter of section 10, step 3: a tiling of a parallel level must not leave more than a tenth of the
// cores idle.
bool keeps_cores_busy(const Problem &problem, const Level &level, const Extents &tile);

}  // namespace halidegym
