#include "state/placements.h"

#include <cmath>

#include "nest/edits.h"
#include "nest/tilings.h"
#include "problem/error.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

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

// A tiling of a level between whose halves something may be placed.
struct Placements::Tile {
    size_t index;
    Extents inner;            // trips of the inner half
    bool shrinks;             // the inner half needs less of the Func than the outer body
    const Bound *bound;       // of the Func at the outer half
    int64_t num_inner_tiles;  // whole-loop tilings of the inner half
};

Placements::Placements(const Space &space, LevelRef root, const Node &func)
    : space_(&space), problem_(space.problem.get()), func_(&func) {
    path_.push_back({.level = std::move(root), .tilings = {}, .tile_regions = {}, .trips_limit = {}});
}

bool Placements::has_step(int depth) {
    while (static_cast<int>(path_.size()) <= depth) {
        const Step &last = path_.back();
        const int child = only_caller(*problem_, *last.level, *func_);
        if (child < 0) {
            return false;
        }
        const LevelRef next = last.level->children[static_cast<size_t>(child)];
        path_.push_back({.level = next,
                         .child = child,
                         .instances = last.instances * next->size.product(),
                         .tilings = {},
                         .tile_regions = {},
                         .trips_limit = {}});
    }
    return true;
}

Placements::Step &Placements::step(int depth) {
    if (!has_step(depth)) {
        throw InvalidParameter("Func '" + func_->name + "' has no caller at depth " + std::to_string(depth) +
                               " of this nest; take decisions from the state they belong to");
    }
    return path_[static_cast<size_t>(depth)];
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

std::span<const Extents> Placements::tilings_of(Step &step) {
    if (step.tilings.empty()) {
        step.tilings = halidegym::tilings(step.level->size);
        step.tile_regions.resize(step.tilings.size());
    }
    return step.tilings;
}

const Regions &Placements::tile_regions(int depth, size_t tile) {
    Step &at = step(depth);
    auto &regions = at.tile_regions[tile];
    if (!regions) {
        regions = halidegym::tile_regions(*problem_, *at.level, *step(depth - 1).level, at.tilings[tile]);
    }
    return *regions;
}

// Section 7.3.
std::vector<int> Placements::vector_dimensions() {
    std::vector<int> dimensions;
    if (func_->is_output) {
        dimensions = func_->unit_stride_dimensions;
    } else {
        const auto computed = path_.front().level->regions->of(func_->id).computed();
        for (int d = 0; d < func_->dimensions; d++) {
            if (computed[static_cast<size_t>(d)].extent() >= func_->vector_size) {
                dimensions.push_back(d);
            }
        }
    }
    if (dimensions.empty()) {
        for (int d = 0; d < std::max(func_->dimensions, 1); d++) {
            dimensions.push_back(d);
        }
    }
    return dimensions;
}

// The idle-core filter of step 3: a tiling of a parallel level must not leave more than a tenth of the cores idle.
bool Placements::keeps_cores_busy(const Level &level, const Extents &tile) const {
    if (!level.parallel) {
        return true;
    }
    const Stage &stage = problem_->stages[static_cast<size_t>(level.stage)];
    int64_t tasks = 1;
    for (int i = 0; i < tile.size(); i++) {
        if (stage.loops[static_cast<size_t>(i)].pure) {
            tasks *= tile[i];
        }
    }
    const double tasks_per_core = static_cast<double>(tasks) / problem_->parallelism;
    return std::ceil(tasks_per_core) / tasks_per_core <= 1.1;
}

// "lost": the vector dimension became too small exactly at this step.
bool Placements::lost_vector(const Bound &outside, const Bound &inside, int vector_dim) const {
    if (func_->dimensions == 0) {
        return false;
    }
    const auto v = static_cast<size_t>(vector_dim);
    return outside.computed()[v].extent() >= func_->vector_size && inside.computed()[v].extent() < func_->vector_size;
}

// Step 4: the Func may be stored at this depth and computed one level further in.
bool Placements::may_slide(int depth) {
    const Level &level = *step(depth).level;
    const Level &next = *step(depth + 1).level;
    return (problem_->parallelism == 1 || !level.is_root()) && count_ones(next.size) == next.size.size() - 1 &&
           func_->num_stages == 1 && (next.vectorized_loop < 0 || next.size[next.vectorized_loop] == 1);
}

bool Placements::may_be_tiled(int depth) {
    const Level &level = *step(depth).level;
    return !func_->is_output && level.tileable && !level.is_root();
}

std::optional<Placements::Tile> Placements::usable_tile(int depth, size_t index, bool within_limits) {
    Step &at = step(depth);
    const Level &level = *at.level;
    const Extents &outer = tilings_of(at)[index];
    if (!keeps_cores_busy(level, outer)) {
        return std::nullopt;
    }
    const Bound &bound = tile_regions(depth, index).of(func_->id);
    const int64_t volume = level.regions->of(func_->id).volume_computed();
    Tile tile{index, inner_trips(level.size, outer), volume < bound.volume_computed(), &bound, 0};
    if (within_limits) {
        const int64_t trips = level.size.product();
        const int64_t outer_trips = outer.product();
        const int64_t rounded = outer_trips * tile.inner.product();
        if (!is_within_limits(bound, at.instances / trips * outer_trips) ||
            (rounded > trips && static_cast<double>(rounded) > trips_limit(depth))) {
            return std::nullopt;
        }
    }
    if (func_->num_stages == 1 && tile.shrinks && space_->options.subtiling) {
        tile.num_inner_tiles = num_whole_loop_tilings(tile.inner);
    }
    return tile;
}

std::vector<Placements::Tile> Placements::usable_tiles(int depth, bool within_limits) {
    std::vector<Tile> tiles;
    if (may_be_tiled(depth)) {
        const size_t count = tilings_of(step(depth)).size();
        for (size_t t = 0; t < count; t++) {
            if (auto tile = usable_tile(depth, t, within_limits)) {
                tiles.push_back(std::move(*tile));
            }
        }
    }
    return tiles;
}

// The recompute test for storage in the body of a level.
bool Placements::is_allowed(int depth) {
    const Step &at = step(depth);
    return is_within_limits(at.level->regions->of(func_->id), at.instances);
}

bool Placements::may_compute_at(int depth, int vector_dim) {
    const Level &level = *step(depth).level;
    return !level.innermost && !(depth > 0 && lost_vector(step(depth - 1).level->regions->of(func_->id),
                                                          level.regions->of(func_->id), vector_dim));
}

// Whether the Func may be stored between the halves of a level and computed in the inner one.
bool Placements::may_store_at(const Tile &tile, int depth, int vector_dim) {
    const Level &level = *step(depth).level;
    return !lost_vector(*tile.bound, level.regions->of(func_->id), vector_dim) && !level.innermost &&
           has_single_lane(level, tile.inner);
}

bool Placements::may_compute_in_next(int depth, int vector_dim) {
    const Level &next = *step(depth + 1).level;
    return !lost_vector(step(depth).level->regions->of(func_->id), next.regions->of(func_->id), vector_dim) &&
           !next.innermost && has_single_lane(next, next.size);
}

void Placements::emit_own(int depth, int vector_dim, std::span<const Tile> tiles, bool allowed,
                          std::vector<Decision> &out) {
    Decision decision{.vector_dim = static_cast<uint8_t>(vector_dim), .depth = static_cast<uint16_t>(depth)};
    const auto emit = [&](Decision::Kind kind, size_t tile, int64_t inner_tile) {
        decision.kind = kind;
        decision.tile = static_cast<uint32_t>(tile);
        decision.inner_tile = static_cast<uint32_t>(inner_tile);
        out.push_back(decision);
    };
    if (allowed && may_compute_at(depth, vector_dim)) {
        emit(Decision::Kind::ComputeAtLevel, 0, 0);
    }
    for (const Tile &tile : tiles) {
        if (func_->num_stages == 1 && tile.shrinks) {
            if (may_store_at(tile, depth, vector_dim)) {
                emit(Decision::Kind::StoreAtTile, tile.index, 0);
            }
            for (int64_t i = 0; i < tile.num_inner_tiles; i++) {
                emit(Decision::Kind::StoreAtTileSplit, tile.index, i);
            }
        }
        emit(Decision::Kind::ComputeAtTile, tile.index, 0);
    }
}

void Placements::emit_slide(int depth, int vector_dim, std::vector<Decision> &out) {
    const Level &next = *step(depth + 1).level;
    Decision decision{.kind = Decision::Kind::StoreAtLevel,
                      .vector_dim = static_cast<uint8_t>(vector_dim),
                      .depth = static_cast<uint16_t>(depth)};
    if (may_compute_in_next(depth, vector_dim)) {
        out.push_back(decision);
    }
    if (next.tileable) {
        decision.kind = Decision::Kind::StoreAtLevelSplit;
        const int64_t num_splits = num_whole_loop_tilings(next.size);
        for (int64_t i = 0; i < num_splits; i++) {
            if (keeps_cores_busy(next, whole_loop_tiling(next.size, i))) {
                decision.inner_tile = static_cast<uint32_t>(i);
                out.push_back(decision);
            }
        }
    }
}

std::vector<Decision> Placements::enumerate(bool within_limits) {
    int depths = 1;
    while (is_entered(depths)) {
        depths++;
    }
    // Whether the Func may be stored at each level, and in which tiles, does not depend on the vector dimension.
    std::vector<bool> allowed;
    std::vector<std::vector<Tile>> tiles;
    for (int depth = 0; depth < depths; depth++) {
        allowed.push_back(!within_limits || is_allowed(depth));
        tiles.push_back(usable_tiles(depth, within_limits));
    }
    std::vector<Decision> decisions;
    for (const int v : vector_dimensions()) {
        for (int depth = 0; depth < depths; depth++) {
            const auto d = static_cast<size_t>(depth);
            emit_own(depth, v, tiles[d], allowed[d], decisions);
        }
        for (int depth = depths - 2; depth >= 0; depth--) {
            if (allowed[static_cast<size_t>(depth)] && may_slide(depth)) {
                emit_slide(depth, v, decisions);
            }
        }
    }
    return decisions;
}

// Every tiling counts as if all its options were legal, so that nothing has to be known of its regions.
void Placements::list_blocks() {
    candidate_dimensions_ = vector_dimensions();
    int depths = 1;
    while (is_entered(depths)) {
        depths++;
    }
    int64_t end = 0;
    for (int depth = 0; depth < depths; depth++) {
        blocks_.push_back({Block::Kind::Level, depth, 0, ++end});
        if (!may_be_tiled(depth)) {
            continue;
        }
        const Level &level = *step(depth).level;
        const auto all = tilings_of(step(depth));
        for (size_t t = 0; t < all.size(); t++) {
            if (!keeps_cores_busy(level, all[t])) {
                continue;
            }
            const bool single = func_->num_stages == 1;
            end += 1 + (single ? 1 : 0) +
                   (single && space_->options.subtiling ? num_whole_loop_tilings(inner_trips(level.size, all[t])) : 0);
            blocks_.push_back({Block::Kind::Tile, depth, t, end});
        }
    }
    for (int depth = 0; depth + 1 < depths; depth++) {
        if (may_slide(depth)) {
            const Level &next = *step(depth + 1).level;
            end += 1 + (next.tileable ? num_whole_loop_tilings(next.size) : 0);
            blocks_.push_back({Block::Kind::Slide, depth, 0, end});
        }
    }
}

int64_t Placements::num_candidates() {
    if (blocks_.empty()) {
        list_blocks();
    }
    return static_cast<int64_t>(candidate_dimensions_.size()) * blocks_.back().end;
}

std::optional<Decision> Placements::candidate(int64_t index) {
    num_candidates();
    const int vector_dim = candidate_dimensions_[static_cast<size_t>(index / blocks_.back().end)];
    index %= blocks_.back().end;
    const auto block = std::upper_bound(blocks_.begin(), blocks_.end(), index,
                                        [](int64_t value, const Block &candidate) { return value < candidate.end; });
    const int64_t offset = index - (block == blocks_.begin() ? 0 : std::prev(block)->end);
    const int depth = block->depth;
    Decision decision{.kind = Decision::Kind::ComputeAtLevel,
                      .vector_dim = static_cast<uint8_t>(vector_dim),
                      .depth = static_cast<uint16_t>(depth),
                      .tile = static_cast<uint32_t>(block->tile)};
    const auto only_if = [&](bool legal) { return legal ? std::optional(decision) : std::nullopt; };
    if (block->kind == Block::Kind::Level) {
        return only_if(may_compute_at(depth, vector_dim) && is_allowed(depth));
    }
    if (block->kind == Block::Kind::Slide) {
        if (offset == 0) {
            decision.kind = Decision::Kind::StoreAtLevel;
            return only_if(may_compute_in_next(depth, vector_dim) && is_allowed(depth));
        }
        const Level &next = *step(depth + 1).level;
        decision.kind = Decision::Kind::StoreAtLevelSplit;
        decision.inner_tile = static_cast<uint32_t>(offset - 1);
        return only_if(keeps_cores_busy(next, whole_loop_tiling(next.size, offset - 1)) && is_allowed(depth));
    }
    const auto tile = usable_tile(depth, block->tile, true);
    if (!tile) {
        return std::nullopt;
    }
    if (offset == 0) {
        decision.kind = Decision::Kind::ComputeAtTile;
        return decision;
    }
    if (offset == 1) {
        decision.kind = Decision::Kind::StoreAtTile;
        return only_if(tile->shrinks && may_store_at(*tile, depth, vector_dim));
    }
    decision.kind = Decision::Kind::StoreAtTileSplit;
    decision.inner_tile = static_cast<uint32_t>(offset - 2);
    return only_if(tile->shrinks);
}

bool Placements::accepts(const Decision &decision) {
    using Kind = Decision::Kind;
    const int64_t per_dimension = num_candidates() / std::max<int64_t>(std::ssize(candidate_dimensions_), 1);
    const auto dimension = std::find(candidate_dimensions_.begin(), candidate_dimensions_.end(), decision.vector_dim);
    if (dimension == candidate_dimensions_.end()) {
        return false;
    }
    const bool slides = decision.kind == Kind::StoreAtLevel || decision.kind == Kind::StoreAtLevelSplit;
    const auto kind = decision.kind == Kind::ComputeAtLevel ? Block::Kind::Level
                      : slides                              ? Block::Kind::Slide
                                                            : Block::Kind::Tile;
    const auto block = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block &candidate) {
        return candidate.kind == kind && candidate.depth == decision.depth && candidate.tile == decision.tile;
    });
    if (block == blocks_.end()) {
        return false;
    }
    const int64_t begin = block == blocks_.begin() ? 0 : std::prev(block)->end;
    int64_t offset = 0;
    switch (decision.kind) {
    case Kind::StoreAtTile:
        offset = 1;
        break;
    case Kind::StoreAtLevelSplit:
        offset = 1 + int64_t{decision.inner_tile};
        break;
    case Kind::StoreAtTileSplit:
        offset = 2 + int64_t{decision.inner_tile};
        break;
    default:
        break;
    }
    return begin + offset < block->end &&
           candidate((dimension - candidate_dimensions_.begin()) * per_dimension + begin + offset) == decision;
}

bool Placements::has_obvious_choice(int64_t at_least) {
    const auto dimensions = vector_dimensions();
    return std::count_if(dimensions.begin(), dimensions.end(), [&](int v) { return may_compute_at(0, v); }) >=
               at_least &&
           is_allowed(0);
}

}  // namespace halidegym
