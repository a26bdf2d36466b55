#include "observation/decision_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "nest/edits.h"
#include "nest/tilings.h"
#include "observation/scaling.h"

namespace halidegym {

namespace {

// Among the decisions that follow the last twin.
constexpr size_t farthest_twin = 4;

// Of storage, whose extents a row shows.
constexpr int max_dimensions = 4;

// Places among the columns of demands.
enum Demanded : size_t {
    along_vectors = max_dimensions,
    times,
    points,
    bytes,
    redundancy,
    points_inside,
    redundancy_inside,
    num_demanded
};
static_assert(num_demanded == DecisionRows::num_demands);

bool slides(const Decision &decision) {
    using Kind = Decision::Kind;
    return decision.kind == Kind::StoreAtLevel || decision.kind == Kind::StoreAtLevelSplit;
}

bool is_at_tile(const Decision &decision) {
    using Kind = Decision::Kind;
    return decision.kind == Kind::ComputeAtTile || decision.kind == Kind::StoreAtTile ||
           decision.kind == Kind::StoreAtTileSplit;
}

float scaled_product(const Extents &trips) {
    return trips.empty() ? 0.0f : scaled_trips(trips.product());
}

// Describes decisions of one state, in their order. Those that share a level and its tiling mostly follow each other,
// so what their rows have in common is kept. Those that share a vector dimension follow each other, too, and for each
// dimension there are mostly the same ones: rows are copied from such a twin.
class Writer {
public:
    Writer(Expansion &expansion, std::span<const Decision> decisions, int loops, std::span<float> rows,
           std::span<int32_t> stages)
        : loops_(static_cast<size_t>(loops)), columns_(static_cast<size_t>(DecisionRows::columns(loops))),
          expansion_(expansion), decisions_(decisions), rows_(rows), stages_(stages), site_row_(columns_),
          func_(expansion.state().next_func()),
          points_at_root_(static_cast<double>(expansion.state().nest()->regions->of(func_.id).volume_computed())) {}

    // Of the decision at `index` and, if they are at hand, of some that follow; returns of how many.
    size_t write(size_t index);

private:
    // Where a decision places a Func: at a level, or between the halves of one.
    struct Site {
        int depth;
        bool is_tile;
        bool slides;
        uint32_t tile;
        friend bool operator==(const Site &, const Site &) = default;
    };

    size_t copy_twins(size_t index);
    bool are_twins(size_t a, size_t b) const;
    void write_placement(const Decision &decision, float *row);
    void write_tasks(const Decision &decision, float *row);
    void write_calls(float *row) const;
    void write_demands(const Placements::Demands &demands, float *row) const;
    void write_vector_dim(uint8_t vector_dim, float *row) const;
    void write_trips(const Extents &trips, float *out) const;
    void go_to_site(const Decision &decision);
    Extents inner_tile(const Decision &decision);
    float *trips_of(float *row) const { return row + DecisionRows::num_kinds + DecisionRows::num_scalars; }
    float *sums_of(float *row) const { return trips_of(row) + 3 * loops_; }
    float *demands_of(float *row) const { return sums_of(row) + DecisionRows::num_sums; }

    size_t loops_;
    size_t columns_;
    Expansion &expansion_;
    std::span<const Decision> decisions_;
    std::span<float> rows_;
    std::span<int32_t> stages_;
    size_t twin_ = 0;       // where the next one is looked for: among the decisions
    size_t twins_end_ = 0;  // of the vector dimension before, up to here
    std::optional<Site> site_;
    int32_t site_stage_ = -1;
    std::vector<float> site_row_;  // what its decisions have in common
    const Node &func_;             // that is decided on
    double points_at_root_;        // that are computed of it there
    Extents inner_trips_;          // of the inner half
};

size_t Writer::write(size_t index) {
    if (const size_t copied = copy_twins(index)) {
        return copied;
    }
    const Decision &decision = decisions_[index];
    float *row = &rows_[index * columns_];
    if (decision.is_placement()) {
        write_placement(decision, row);
        stages_[index] = site_stage_;
    } else {
        std::fill_n(row, columns_, 0.0f);
        stages_[index] = -1;
        if (decision.kind == Decision::Kind::Parallelize) {
            write_tasks(decision, row);
        } else if (decision.kind == Decision::Kind::Inline) {
            write_calls(row);
        }
    }
    row[static_cast<size_t>(decision.kind)] = 1;
    return 1;
}

size_t Writer::copy_twins(size_t index) {
    const auto vector_dim = decisions_[index].vector_dim;
    if (index > 0 && decisions_[index - 1].vector_dim != vector_dim) {
        twin_ = twins_end_;
        twins_end_ = index;
    }
    const size_t end = std::min(twin_ + farthest_twin, twins_end_);
    size_t first = twin_;
    while (first < end && !are_twins(first, index)) {
        first++;
    }
    if (first >= end) {
        return 0;
    }
    size_t count = 1;
    while (first + count < twins_end_ && index + count < decisions_.size() && are_twins(first + count, index + count) &&
           decisions_[index + count].vector_dim == vector_dim) {
        count++;
    }
    std::copy_n(&stages_[first], count, &stages_[index]);
    float *rows = std::copy_n(&rows_[first * columns_], count * columns_, &rows_[index * columns_]) - count * columns_;
    for (size_t i = 0; i < count; i++) {
        write_vector_dim(vector_dim, rows + i * columns_);
    }
    twin_ = first + count;
    return count;
}

// Whether two decisions are the same but for the vector dimension.
bool Writer::are_twins(size_t a, size_t b) const {
    Decision other = decisions_[a];
    other.vector_dim = decisions_[b].vector_dim;
    return other == decisions_[b];
}

void Writer::write_placement(const Decision &decision, float *row) {
    go_to_site(decision);
    std::ranges::copy(site_row_, row);
    write_vector_dim(decision.vector_dim, row);
    const Extents inner = inner_tile(decision);
    if (!inner.empty()) {
        write_trips(inner, trips_of(row) + 2 * loops_);
        sums_of(row)[2] = scaled_product(inner);
        sums_of(row)[3] = 1;
    }
}

void Writer::write_tasks(const Decision &decision, float *row) {
    const State &state = expansion_.state();
    const Problem &problem = *state.space().problem;
    const Extents tasks = expansion_.tasks(decision);
    write_trips(tasks, trips_of(row) + loops_);
    float *sums = sums_of(row);
    sums[1] = scaled_product(tasks);
    const auto per_core = static_cast<double>(tasks.product()) / problem.parallelism;
    if (const Extents *trips = parallelizable_trips(problem, *state.nest(), state.next_func())) {
        sums[4] = scaled_product(inner_trips(*trips, tasks));
    }
    sums[5] = static_cast<float>(std::log2(per_core));
    sums[6] = static_cast<float>(std::ceil(per_core) - per_core);
}

void Writer::write_calls(float *row) const {
    float *demands = demands_of(row);
    const int64_t calls = expansion_.inline_calls().total;
    demands[times] = scaled_trips(calls);
    demands[points] = scaled_trips(1);
    demands[bytes] = scaled_trips(func_.bytes_per_point);
    demands[redundancy] = log2_ratio(static_cast<double>(calls), points_at_root_);
}

void Writer::write_demands(const Placements::Demands &needed, float *row) const {
    float *demands = demands_of(row);
    const auto [stored, inside] = needed;
    const auto computed = stored.bound->computed();
    for (size_t d = 0; d < std::min<size_t>(computed.size(), max_dimensions); d++) {
        demands[d] = scaled_trips(computed[d].extent());
    }
    const auto in_all = [](const Placements::Demand &demand) {
        return static_cast<double>(demand.bound->volume_computed()) * static_cast<double>(demand.times);
    };
    demands[times] = scaled_trips(stored.times);
    demands[points] = scaled_trips(stored.bound->volume_computed());
    demands[bytes] = scaled_trips(stored.bound->volume_computed() * func_.bytes_per_point);
    demands[redundancy] = log2_ratio(in_all(stored), points_at_root_);
    demands[points_inside] = scaled_trips(inside.bound->volume_computed());
    demands[redundancy_inside] = log2_ratio(in_all(inside), points_at_root_);
}

void Writer::write_vector_dim(uint8_t vector_dim, float *row) const {
    row[DecisionRows::num_kinds + 1] = static_cast<float>(vector_dim + 1);
    float *demands = demands_of(row);
    demands[along_vectors] = vector_dim < max_dimensions ? demands[vector_dim] : 0.0f;
}

void Writer::write_trips(const Extents &trips, float *out) const {
    const auto count = std::min(static_cast<size_t>(trips.size()), loops_);
    for (size_t i = 0; i < count; i++) {
        out[i] = scaled_trips(trips.begin()[i]);
    }
}

void Writer::go_to_site(const Decision &decision) {
    const bool is_tile = is_at_tile(decision);
    const Site site{decision.depth, is_tile, slides(decision), is_tile ? decision.tile : 0};
    if (site_ == site) {
        return;
    }
    const Level &level = *expansion_.level(decision);
    float *row = site_row_.data();
    float *outer_trips = trips_of(row) + loops_;
    float *sums = sums_of(row);
    if (!site_ || site_->depth != site.depth) {
        std::ranges::fill(site_row_, 0.0f);
        row[DecisionRows::num_kinds] = decision.depth;
        write_trips(level.size, trips_of(row));
        sums[0] = scaled_product(level.size);
        site_stage_ = level.stage;
    }
    Extents outer;
    if (is_tile) {
        outer = expansion_.outer_tile(decision);
        inner_trips_ = inner_trips(level.size, outer);
        write_trips(outer, outer_trips);
        sums[1] = scaled_product(outer);
        sums[4] = scaled_product(inner_trips_);
    } else {
        std::fill_n(outer_trips, loops_, 0.0f);
        sums[1] = sums[4] = 0;
    }
    write_demands(expansion_.demands(decision, outer, inner_trips_), row);
    site_ = site;
}

Extents Writer::inner_tile(const Decision &decision) {
    return decision.kind == Decision::Kind::StoreAtTileSplit ? whole_loop_tiling(inner_trips_, decision.inner_tile)
                                                             : expansion_.inner_tile(decision);
}

}  // namespace

void DecisionRows::describe(Expansion &expansion, std::span<const Decision> decisions, int loops) {
    rows.resize(decisions.size() * static_cast<size_t>(columns(loops)));
    stages.resize(decisions.size());
    if (decisions.empty()) {
        return;  // of a complete state, say, which decides on no Func
    }
    Writer writer(expansion, decisions, loops, rows, stages);
    for (size_t i = 0; i < decisions.size();) {
        i += writer.write(i);
    }
}

}  // namespace halidegym
