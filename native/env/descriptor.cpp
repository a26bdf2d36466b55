#include "env/descriptor.h"

#include <algorithm>

#include "env/scaling.h"
#include "nest/edits.h"
#include "nest/tilings.h"

namespace halidegym {

namespace {

void write_trips(const Extents &trips, float *out) {
    std::transform(trips.begin(), trips.end(), out, std::ref(scaled_trips));
}

bool is_at_tile(const Decision &decision) {
    using Kind = Decision::Kind;
    return decision.kind == Kind::ComputeAtTile || decision.kind == Kind::StoreAtTile ||
           decision.kind == Kind::StoreAtTileSplit;
}

}  // namespace

void DescriptorWriter::write(const Decision &decision, float *row) {
    row[static_cast<size_t>(decision.kind)] = 1;
    float *scalars = row + ObservationShape::num_kinds;
    float *trips = scalars + ObservationShape::num_scalars;
    if (decision.kind == Decision::Kind::Parallelize) {
        write_trips(expansion_.tasks(decision), trips + loops_);
    } else if (const Level *level = expansion_.level(decision)) {
        go_to_site(decision, *level);
        scalars[0] = decision.depth;
        scalars[1] = static_cast<float>(decision.vector_dim + 1);
        scalars[2] = static_cast<float>(level->stage + 1);
        std::ranges::copy(site_trips_, trips);
        write_trips(inner_tile(decision), trips + site_trips_.size());
    }
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
