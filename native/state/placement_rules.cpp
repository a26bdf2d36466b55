#include <algorithm>
#include <cmath>

#include "nest/edits.h"
#include "nest/tilings.h"
#include "state/placements.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

// Which placements there are, and which of them are legal (docs/specification/search-space.md, sections 7.3 and 10).

namespace {

// The lane test of step 1: a Func whose storage is placed outside may only be computed in a level that does not loop
// over the vectorized dimension. It looks the size up by pure argument, not by loop (quirk 3).
bool has_single_lane(const Level &level, const Extents &size) {
    if (size.empty() || level.vector_dim < 0) {
        return true;
    }
    return level.vector_dim < size.size() && size[level.vector_dim] == 1;
}

int count_ones(const Extents &size) {
    return static_cast<int>(std::count(size.begin(), size.end(), 1));
}

}  // namespace

// Section 7.3.
Placements::Dimensions Placements::vector_dimensions() const {
    Dimensions dimensions;
    if (func_->is_output) {
        std::ranges::for_each(func_->unit_stride_dimensions, [&](int d) { dimensions.push_back(d); });
    } else {
        const auto computed = root_->regions->of(func_->id).computed();
        for (int d = 0; d < func_->dimensions; d++) {
            if (computed[static_cast<size_t>(d)].extent() >= func_->vector_size) {
                dimensions.push_back(d);
            }
        }
    }
    if (dimensions.size == 0) {
        for (int d = 0; d < std::max(func_->dimensions, 1); d++) {
            dimensions.push_back(d);
        }
    }
    return dimensions;
}

// Step 4 and step 0 of section 10: whether the search descends into the level at this depth.
bool Placements::is_entered(int depth) {
    if (depth == 0) {
        return true;
    }
    if (func_->is_output || !has_step(depth)) {
        return false;
    }
    const Level &parent = *path_[static_cast<size_t>(depth - 1)].level;
    const Level &level = *path_[static_cast<size_t>(depth)].level;
    if (!space_->options.subtiling && !parent.is_root()) {
        return false;
    }
    // A Func fused into a serial root loop could never be parallelized.
    if (parent.is_root() && problem_->parallelism > 1 && count_ones(level.size) == level.size.size()) {
        return false;
    }
    return level.regions->of(func_->id).volume_computed() < parent.regions->of(func_->id).volume_computed();
}

bool Placements::may_be_tiled(int depth) {
    const Level &level = *step(depth).level;
    return !func_->is_output && level.tileable && !level.is_root();
}

// Step 4: the Func may be stored at this depth and computed one level further in, which the search descends into.
bool Placements::may_slide(int depth) {
    const Level &level = *step(depth).level;
    const Level &next = *step(depth + 1).level;
    return (problem_->parallelism == 1 || !level.is_root()) && count_ones(next.size) == next.size.size() - 1 &&
           func_->num_stages == 1 && (next.vectorized_loop < 0 || next.size[next.vectorized_loop] == 1);
}

// What all candidates of a block need, whatever the vector dimension.
bool Placements::is_open(const Block &block) {
    return block.kind == Block::Kind::AtTile ? tile_rules(block.depth, block.tile).is_usable : is_allowed(block.depth);
}

// What a listed candidate needs besides an open block.
bool Placements::is_option(const Block &block, const Decision &decision) {
    const int depth = block.depth;
    switch (decision.kind) {
    case Decision::Kind::ComputeAtLevel:
        return may_compute_at(depth, decision.vector_dim);
    case Decision::Kind::StoreAtTile:
        return tile_rules(depth, block.tile).shrinks &&
               contains(tile_rules(depth, block.tile).may_store, decision.vector_dim);
    case Decision::Kind::StoreAtTileSplit:
        return tile_rules(depth, block.tile).shrinks;
    case Decision::Kind::StoreAtLevel:
        return may_compute_in_next(depth, decision.vector_dim);
    case Decision::Kind::StoreAtLevelSplit: {
        const Level &next = *step(depth + 1).level;
        return keeps_cores_busy(*problem_, next, whole_loop_tiling(next.size, decision.inner_tile));
    }
    default:
        return true;
    }
}

Placements::Tile::Rules Placements::tile_rules(int depth, size_t index) {
    auto &rules = tile(depth, index).rules;
    if (!rules) {
        const Extents outer = tilings_of(step(depth)).outer(index);
        rules = find_tile_rules(depth, index, outer, inner_trips(level(depth).size, outer));
    }
    return *rules;
}

Placements::Tile::Rules Placements::find_tile_rules(int depth, size_t index, const Extents &outer,
                                                    const Extents &inner) {
    const Step &at = step(depth);
    const Level &level = *at.level;
    const int64_t outer_trips = outer.product();
    const int64_t rounded = outer_trips * inner.product();
    if (rounded > level.size.product() && static_cast<double>(rounded) > trips_limit(depth)) {
        return {.is_usable = false, .shrinks = false, .may_store = {}};
    }
    const Bound &outside = tile_regions(depth, index, outer)->of(func_->id);
    const Bound &inside = level.regions->of(func_->id);
    const bool may_store = !level.innermost && has_single_lane(level, inner);
    return {.is_usable = is_within_limits(outside, step(depth - 1).instances * outer_trips),
            .shrinks = inside.volume_computed() < outside.volume_computed(),
            .may_store = may_store ? ~lost_vectors(outside, inside) : VectorDims{}};
}

bool Placements::may_compute_at(int depth, int vector_dim) {
    const Level &level = *step(depth).level;
    return !level.innermost && !(depth > 0 && contains(lost_vectors(step(depth - 1).level->regions->of(func_->id),
                                                                    level.regions->of(func_->id)),
                                                       vector_dim));
}

bool Placements::may_compute_in_next(int depth, int vector_dim) {
    const Level &next = *step(depth + 1).level;
    return !contains(lost_vectors(step(depth).level->regions->of(func_->id), next.regions->of(func_->id)),
                     vector_dim) &&
           !next.innermost && has_single_lane(next, next.size);
}

// "lost": those that became too small for a vector exactly at this step.
Placements::VectorDims Placements::lost_vectors(const Bound &outside, const Bound &inside) const {
    VectorDims lost = 0;
    for (size_t d = 0; d < static_cast<size_t>(func_->dimensions); d++) {
        const bool is_lost =
            inside.computed()[d].extent() < func_->vector_size && outside.computed()[d].extent() >= func_->vector_size;
        lost |= VectorDims{is_lost} << d;
    }
    return lost;
}

}  // namespace halidegym
