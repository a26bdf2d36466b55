#include "state/level_tilings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>

#include "nest/tilings.h"
#include "state/space_tables.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

namespace {

constexpr double max_idle_ratio = 1.1;

}  // namespace

LevelTilings::LevelTilings(SpaceTables &tables, const Level &level)
    : size_(level.size), num_loops_(level.size.size()), num_all_(1),
      splits_of_ones_(num_whole_loop_tilings(level.size)) {
    for (int i = 0; i < num_loops_; i++) {
        auto choices = tables.split_choices(level.size[i], growth_factor(num_all_));
        choices_[static_cast<size_t>(i)] = choices.get();
        const auto count = static_cast<int64_t>(choices->trips.size());
        num_all_ *= count;
        rank_of_ones_ = rank_of_ones_ * count + static_cast<int64_t>(choices->place_of_one);
        if (choices.use_count() > 0) {
            overflow_.push_back(std::move(choices));
        }
    }
    if (num_loops_ > 0) {
        num_all_ -= rank_of_ones_ == 0 ? 1 : 2;
    }
    if (level.parallel) {
        busy_ = tables.busy_tilings(level, *this);
    }
}

size_t LevelTilings::place_of(uint32_t index) const {
    if (!busy_) {
        return std::min(static_cast<size_t>(index), size());
    }
    const auto at = std::ranges::lower_bound(busy_->indices, index);
    return at != busy_->indices.end() && *at == index ? static_cast<size_t>(at - busy_->indices.begin()) : size();
}

Extents LevelTilings::outer(size_t place) const {
    return tile(index(place));
}

int64_t LevelTilings::splits_before(size_t place) const {
    if (busy_) {
        return busy_->splits_before[place];
    }
    if (num_loops_ == 0) {
        return static_cast<int64_t>(place) * splits_of_ones_;
    }
    const int64_t rank = this->rank(static_cast<int64_t>(place));
    return splits_before_rank(rank) - (rank > rank_of_ones_ ? splits_of_ones_ : 0);
}

Extents LevelTilings::tile(int64_t index) const {
    Extents tile(num_loops_, 1);
    int64_t rest = num_loops_ == 0 ? 0 : rank(index);
    for (int i = num_loops_ - 1; i >= 0; i--) {
        const auto &trips = choices_[static_cast<size_t>(i)]->trips;
        const auto count = static_cast<int64_t>(trips.size());
        tile[i] = trips[static_cast<size_t>(rest % count)];
        rest /= count;
    }
    return tile;
}

int64_t LevelTilings::rank(int64_t index) const {
    const int64_t after_whole = index + 1;
    return after_whole + (rank_of_ones_ > 0 && after_whole >= rank_of_ones_ ? 1 : 0);
}

// The inner half has more than one trip in the q loops of which not the first choice is taken, and so 2^q - 1 splits,
// or one less if the last loop is among the q (section 9). The first terms are summed in `powers`, the rest in
// `others`. Of the tuples below a rank, those that begin like it and have a smaller choice for one loop have all
// choices for the loops after it: sums over these are products.
int64_t LevelTilings::splits_before_rank(int64_t rank) const {
    const auto num_choices = [&](int i) { return std::ssize(choices_[static_cast<size_t>(i)]->trips); };
    const int64_t of_last = num_choices(num_loops_ - 1);
    int64_t all_tuples = 1;  // of the loops after this one
    int64_t all_powers = 1;  // of these, too
    int64_t powers = 0;
    int64_t others = 0;
    for (int i = num_loops_ - 1; i >= 0; i--) {
        const int64_t count = num_choices(i);
        const int64_t place = i == 0 ? rank : rank % count;
        rank /= count;
        const bool is_first = place == 0;
        powers = (is_first ? 0 : 2 * place - 1) * all_powers + (is_first ? 1 : 2) * powers;
        others += place * all_tuples;
        others += i + 1 < num_loops_ ? place * (all_tuples / of_last) * (of_last - 1) : is_first ? 0 : place - 1;
        all_tuples *= count;
        all_powers *= 2 * count - 1;
    }
    return powers - others;
}

LevelTilings::Share LevelTilings::share_of(int64_t candidate, int64_t others) const {
    if (busy_) {
        const auto begin = [&](size_t place) {
            return static_cast<int64_t>(place) * others + busy_->splits_before[place];
        };
        const auto places = std::views::iota(size_t{0}, size());
        const auto after = std::ranges::upper_bound(places, candidate, {}, begin);
        const auto place = static_cast<size_t>(after - places.begin()) - 1;
        return {place, begin(place), begin(place + 1) - begin(place)};
    }
    if (num_loops_ == 0) {
        const int64_t size = others + splits_of_ones_;
        return {static_cast<size_t>(candidate / size), candidate / size * size, size};
    }
    // The product has two tuples more, of which the first one, the whole size, has no splits.
    const int64_t begin_of_ones = rank_of_ones_ * others + splits_before_rank(rank_of_ones_);
    int64_t skipped = others;
    if (candidate + skipped >= begin_of_ones) {
        skipped += others + splits_of_ones_;
    }
    const Share share = share_of_product(candidate + skipped, others);
    const auto before = static_cast<size_t>(skipped > others ? 2 : 1);
    return {share.place - before, share.begin - skipped, share.size};
}

// From the first loop to the last, by how many candidates the tuples that begin alike have together, which is summed as
// in `splits_before_rank`.
LevelTilings::Share LevelTilings::share_of_product(int64_t candidate, int64_t others) const {
    const auto num_choices = [&](int i) { return std::ssize(choices_[static_cast<size_t>(i)]->trips); };
    const int last = num_loops_ - 1;
    const int64_t of_last = num_choices(last);
    // Of the loops after each one but the last.
    std::array<int64_t, max_loops> candidates;
    std::array<int64_t, max_loops> powers;
    int64_t tuples_before_last = 1;
    int64_t all_powers = 2 * of_last - 1;
    for (int i = last - 1; i >= 0; i--) {
        candidates[static_cast<size_t>(i)] = tuples_before_last * ((others - 1) * of_last - (of_last - 1));
        powers[static_cast<size_t>(i)] = all_powers;
        tuples_before_last *= num_choices(i);
        all_powers *= 2 * num_choices(i) - 1;
    }
    const int64_t begin = candidate;
    int64_t rank = 0;
    int64_t power = 1;  // of two: the loops so far of which not the first choice is taken
    const auto choose = [&](int i, int64_t of_first, int64_t of_other) {
        int64_t choice = 0;
        if (candidate >= of_first) {
            choice = 1 + (candidate - of_first) / of_other;
            candidate -= of_first + (choice - 1) * of_other;
            power *= 2;
        }
        rank = rank * num_choices(i) + choice;
        return choice == 0 ? of_first : of_other;
    };
    for (int i = 0; i < last; i++) {
        const auto at = static_cast<size_t>(i);
        choose(i, candidates[at] + power * powers[at], candidates[at] + 2 * power * powers[at]);
    }
    const int64_t size = choose(last, others - 1 + power, others - 2 + 2 * power);
    return {static_cast<size_t>(rank), begin - candidate, size};
}

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

}  // namespace halidegym
