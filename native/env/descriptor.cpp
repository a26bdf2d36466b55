#include "env/descriptor.h"

#include <algorithm>

#include "env/scaling.h"
#include "nest/edits.h"
#include "nest/tilings.h"

namespace halidegym {

namespace {

// Among the decisions that follow the last twin.
constexpr size_t farthest_twin = 4;

void write_trips(const Extents &trips, float *out) {
    std::transform(trips.begin(), trips.end(), out, std::ref(scaled_trips));
}

bool is_at_tile(const Decision &decision) {
    using Kind = Decision::Kind;
    return decision.kind == Kind::ComputeAtTile || decision.kind == Kind::StoreAtTile ||
           decision.kind == Kind::StoreAtTileSplit;
}

}  // namespace

void DescriptorWriter::write(size_t action) {
    const Decision &decision = decisions_[action];
    float *row = &rows_[action * columns_];
    if (decision.kind == Decision::Kind::Parallelize) {
        row[static_cast<size_t>(decision.kind)] = 1;
        write_trips(expansion_.tasks(decision), row + columns_ - 2 * loops_);
    } else if (const Level *level = expansion_.level(decision)) {
        if (!copy_twin(action)) {
            write_placement(decision, *level, row);
        }
    } else {
        row[static_cast<size_t>(decision.kind)] = 1;
    }
}

bool DescriptorWriter::copy_twin(size_t action) {
    Decision wanted = decisions_[action];
    if (action > 0 && decisions_[action - 1].vector_dim != wanted.vector_dim) {
        twin_ = twins_end_;
        twins_end_ = action;
    }
    for (size_t i = twin_; i < std::min(twin_ + farthest_twin, twins_end_); i++) {
        wanted.vector_dim = decisions_[i].vector_dim;
        if (decisions_[i] == wanted) {
            float *row = std::copy_n(&rows_[i * columns_], columns_, &rows_[action * columns_]) - columns_;
            row[ObservationShape::num_kinds + 1] = static_cast<float>(decisions_[action].vector_dim + 1);
            twin_ = i + 1;
            return true;
        }
    }
    return false;
}

void DescriptorWriter::write_placement(const Decision &decision, const Level &level, float *row) {
    go_to_site(decision, level);
    row[static_cast<size_t>(decision.kind)] = 1;
    float *scalars = row + ObservationShape::num_kinds;
    scalars[0] = decision.depth;
    scalars[1] = static_cast<float>(decision.vector_dim + 1);
    scalars[2] = static_cast<float>(level.stage + 1);
    float *trips = std::ranges::copy(site_trips_, scalars + ObservationShape::num_scalars).out;
    write_trips(inner_tile(decision), trips);
}

void DescriptorWriter::go_to_site(const Decision &decision, const Level &level) {
    const bool is_tile = is_at_tile(decision);
    const Site site{decision.depth, is_tile, is_tile ? decision.tile : 0};
    if (site_ == site) {
        return;
    }
    std::ranges::fill(site_trips_, 0.0f);
    write_trips(level.size, site_trips_.data());
    if (is_tile) {
        const Extents outer = expansion_.outer_tile(decision);
        write_trips(outer, site_trips_.data() + loops_);
        inner_trips_ = inner_trips(level.size, outer);
    }
    site_ = site;
}

Extents DescriptorWriter::inner_tile(const Decision &decision) {
    return decision.kind == Decision::Kind::StoreAtTileSplit ? whole_loop_tiling(inner_trips_, decision.inner_tile)
                                                             : expansion_.inner_tile(decision);
}

}  // namespace halidegym
