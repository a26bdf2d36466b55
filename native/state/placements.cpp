#include "state/placements.h"

#include <algorithm>
#include <span>

#include "nest/edits.h"
#include "nest/tilings.h"
#include "problem/error.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

namespace {

// How many candidates are stored in the body of a level and computed in the next one.
int64_t num_sliding(const Level &next) {
    return 1 + (next.tileable ? num_whole_loop_tilings(next.size) : 0);
}

}  // namespace

Placements::Placements(const Space &space, const Level &root, const Node &func, NestMaker *make)
    : space_(&space), problem_(space.problem.get()), func_(&func), root_(&root), make_(make) {
    path_.reserve(8);
    path_.push_back({.level = root_, .tilings = {}, .tiles = {}, .trips_limit = {}});
}

bool Placements::has_step(int depth) {
    while (static_cast<int>(path_.size()) <= depth) {
        const Step &last = path_.back();
        const int child = only_caller(*last.level, *func_);
        if (child < 0) {
            return false;
        }
        const Level *next = last.level->children[static_cast<size_t>(child)].get();
        path_.push_back({.level = next,
                         .child = child,
                         .instances = last.instances * next->size.product(),
                         .tilings = {},
                         .tiles = {},
                         .trips_limit = {}});
    }
    return true;
}

Placements::Body Placements::body_with_all_calls() {
    int depth = 0;
    while (has_step(depth + 1)) {
        depth++;
    }
    return {level(depth), step(depth).instances};
}

void Placements::require_step(int depth) {
    if (!has_step(depth)) {
        throw InvalidParameter("Func '" + func_->name + "' has no caller at depth " + std::to_string(depth) +
                               " of this nest; take decisions from the state they belong to");
    }
}

const LevelTilings &Placements::tilings_of(Step &step) {
    if (!step.tilings) {
        step.tilings = std::make_unique<const LevelTilings>(*space_->tables, *step.level);
    }
    return *step.tilings;
}

Placements::Tile &Placements::tile(int depth, size_t index) {
    Step &at = step(depth);
    if (!at.tiles.empty()) {
        return at.tiles[index];
    }
    if (last_tile_.depth != depth || last_tile_.index != index) {
        last_tile_ = {depth, index, {}};
    }
    return last_tile_.tile;
}

const RegionsRef &Placements::tile_regions(int depth, size_t index, const Extents &outer) {
    Tile &tile = this->tile(depth, index);
    if (!tile.regions) {
        LastingNests lasting;
        tile.regions = halidegym::tile_regions(make_ != nullptr ? *make_ : lasting, *problem_, level(depth),
                                               level(depth - 1), outer);
    }
    return tile.regions;
}

Placements::Demands Placements::demands(const Decision &decision, const Extents &outer, const Extents &inner) {
    const auto in_body = [&](int depth) {
        const Step &at = step(depth);
        return Demand{&at.level->regions->of(func_->id), at.instances};
    };
    const int depth = decision.depth;
    switch (decision.kind) {
    case Decision::Kind::StoreAtLevel:
    case Decision::Kind::StoreAtLevelSplit:
        return {in_body(depth), in_body(depth + 1)};
    case Decision::Kind::ComputeAtTile:
    case Decision::Kind::StoreAtTile:
    case Decision::Kind::StoreAtTileSplit: {
        const int64_t times = step(depth - 1).instances * outer.product();
        return {{&tile_regions(depth, place_of_tile(decision), outer)->of(func_->id), times},
                {in_body(depth).bound, times * inner.product()}};
    }
    default: {
        const Demand demand = in_body(depth);
        return {demand, demand};
    }
    }
}

// Whatever would need to know the region of a tiling is left to the test of the candidate.
const Placements::Candidates &Placements::candidates() {
    if (candidates_) {
        return *candidates_;
    }
    candidates_.emplace();
    candidates_->vector_dimensions = vector_dimensions();
    int &levels = candidates_->num_levels;
    int64_t &count = candidates_->per_dimension;
    for (; is_entered(levels); levels++) {
        Step &at = step(levels);
        at.begin = count;
        count = may_be_tiled(levels) ? begin_of_tile(levels, tilings_of(at).size()) : count + 1;
    }
    for (int depth = 0; depth < levels; depth++) {
        path_[static_cast<size_t>(depth)].slide_begin = count;
        if (depth + 1 < levels && may_slide(depth)) {
            count += num_sliding(*step(depth + 1).level);
        }
    }
    return *candidates_;
}

int64_t Placements::begin_of_tile(int depth, size_t tile) {
    Step &at = step(depth);
    const int64_t splits = has_splits() ? tilings_of(at).splits_before(tile) : 0;
    return at.begin + 1 + static_cast<int64_t>(tile) * num_besides_splits() + splits;
}

// The same for the candidates of one tiling, without a look at those before it.
int64_t Placements::size_of_tile(const Extents &inner) const {
    return num_besides_splits() + (has_splits() ? num_whole_loop_tilings(inner) : 0);
}

Placements::Block Placements::level_block(int depth) {
    return {Block::Kind::AtLevel, depth, 0, step(depth).begin, 1};
}

Placements::Block Placements::tile_block_at(int depth, int64_t index) {
    Step &at = step(depth);
    const int64_t first = at.begin + 1;
    if (!has_splits()) {
        const int64_t size = num_besides_splits();
        const int64_t tile = (index - first) / size;
        return {Block::Kind::AtTile, depth, static_cast<size_t>(tile), first + tile * size, size};
    }
    const auto [tile, begin, size] = tilings_of(at).share_of(index - first, num_besides_splits());
    return {Block::Kind::AtTile, depth, tile, first + begin, size};
}

// Of no candidates if the Func may not slide there.
Placements::Block Placements::slide_block(int depth) {
    const int64_t begin = step(depth).slide_begin;
    const int64_t end = depth + 1 < candidates().num_levels ? step(depth + 1).slide_begin : candidates().per_dimension;
    return {Block::Kind::Sliding, depth, 0, begin, end - begin};
}

Placements::Block Placements::block_at(int64_t index) {
    const auto levels = std::span(path_).first(static_cast<size_t>(candidates().num_levels));
    const auto last_from = [&](int64_t Step::*begin) {
        const auto after = std::ranges::upper_bound(levels, index, {}, begin);
        return static_cast<int>(after - levels.begin()) - 1;
    };
    if (index >= levels.front().slide_begin) {
        return slide_block(last_from(&Step::slide_begin));
    }
    const int depth = last_from(&Step::begin);
    return index == step(depth).begin ? level_block(depth) : tile_block_at(depth, index);
}

// Found without a look at other candidates, and so without a place among them.
std::optional<Placements::Block> Placements::block_of(const Decision &decision) {
    const int depth = decision.depth;
    for (int entered = 0; entered <= depth; entered++) {
        if (!is_entered(entered)) {
            return std::nullopt;
        }
    }
    switch (decision.kind) {
    case Decision::Kind::ComputeAtLevel:
        return Block{Block::Kind::AtLevel, depth, 0, 0, 1};
    case Decision::Kind::StoreAtLevel:
    case Decision::Kind::StoreAtLevelSplit:
        return is_entered(depth + 1) && may_slide(depth)
                   ? std::optional(Block{Block::Kind::Sliding, depth, 0, 0, num_sliding(level(depth + 1))})
                   : std::nullopt;
    default: {
        if (!may_be_tiled(depth)) {
            return std::nullopt;
        }
        const LevelTilings &tilings = tilings_of(step(depth));
        const size_t tile = tilings.place_of(decision.tile);
        if (tile >= tilings.size()) {
            return std::nullopt;
        }
        const int64_t size = size_of_tile(inner_trips(level(depth).size, tilings.outer(tile)));
        return Block{Block::Kind::AtTile, depth, tile, 0, size};
    }
    }
}

Decision Placements::decision_at(const Block &block, int vector_dim, int64_t offset) {
    using Kind = Decision::Kind;
    Decision decision{.kind = Kind::ComputeAtLevel,
                      .vector_dim = static_cast<uint8_t>(vector_dim),
                      .depth = static_cast<uint16_t>(block.depth)};
    if (block.kind == Block::Kind::AtTile) {
        decision.kind = offset == 0 ? Kind::ComputeAtTile : offset == 1 ? Kind::StoreAtTile : Kind::StoreAtTileSplit;
        decision.tile = tilings_of(step(block.depth)).index(block.tile);
        decision.inner_tile = offset < 2 ? 0 : static_cast<uint32_t>(offset - 2);
    } else if (block.kind == Block::Kind::Sliding) {
        decision.kind = offset == 0 ? Kind::StoreAtLevel : Kind::StoreAtLevelSplit;
        decision.inner_tile = offset < 1 ? 0 : static_cast<uint32_t>(offset - 1);
    }
    return decision;
}

int64_t Placements::offset_of(const Decision &decision) {
    switch (decision.kind) {
    case Decision::Kind::StoreAtTile:
        return 1;
    case Decision::Kind::StoreAtLevelSplit:
        return 1 + int64_t{decision.inner_tile};
    case Decision::Kind::StoreAtTileSplit:
        return 2 + int64_t{decision.inner_tile};
    default:
        return 0;
    }
}

int64_t Placements::num_candidates() {
    const Candidates &all = candidates();
    return static_cast<int64_t>(all.vector_dimensions.size) * all.per_dimension;
}

std::optional<Decision> Placements::option(int64_t index) {
    const Candidates &all = candidates();
    const int vector_dim = all.vector_dimensions.values[static_cast<size_t>(index / all.per_dimension)];
    index %= all.per_dimension;
    const Block block = block_at(index);
    const Decision decision = decision_at(block, vector_dim, index - block.begin);
    return is_option(block, decision) && is_open(block) ? std::optional(decision) : std::nullopt;
}

bool Placements::has_option(const Decision &decision) {
    const Dimensions dimensions = vector_dimensions();
    const auto block = block_of(decision);
    const int64_t offset = offset_of(decision);
    return block && offset < block->size && std::ranges::find(dimensions, decision.vector_dim) != dimensions.end() &&
           decision == decision_at(*block, decision.vector_dim, offset) && is_option(*block, decision) &&
           is_open(*block);
}

void Placements::append_options(const Block &block, int vector_dim, std::vector<Decision> &out) {
    if (block.kind == Block::Kind::AtTile) {
        append_tile_options(block, vector_dim, out);
        return;
    }
    for (int64_t offset = 0; offset < block.size; offset++) {
        const Decision decision = decision_at(block, vector_dim, offset);
        if (is_option(block, decision)) {
            out.push_back(decision);
        }
    }
}

// What `is_option` tells of each candidate: of an open block that has others than the one between the halves, all
// splits are options.
void Placements::append_tile_options(const Block &block, int vector_dim, std::vector<Decision> &out) {
    const Decision between = decision_at(block, vector_dim, 0);
    if (block.size > 1 && contains(tile_rules(block.depth, block.tile).may_store, vector_dim)) {
        out.push_back(between);
        out.back().kind = Decision::Kind::StoreAtTile;
    }
    for (int64_t split = 0; split < block.size - 2; split++) {
        out.push_back(between);
        out.back().kind = Decision::Kind::StoreAtTileSplit;
        out.back().inner_tile = static_cast<uint32_t>(split);
    }
    // The reference computes between the halves last.
    out.push_back(between);
}

// Of candidates that may be options. The reference comes to sliding windows on its way back from the innermost level.
std::vector<Placements::Block> Placements::open_blocks() {
    const Candidates &all = candidates();
    std::vector<Block> open;
    const auto append = [&](const Block &block) {
        if (block.size > 0 && is_allowed(block.depth)) {
            open.push_back(block);
        }
    };
    for (int depth = 0; depth < all.num_levels; depth++) {
        append(level_block(depth));
        if (!may_be_tiled(depth)) {
            continue;
        }
        Step &at = step(depth);
        at.tiles.resize(tilings_of(at).size());
        int64_t begin = at.begin + 1;
        tilings_of(at).for_each([&](size_t t, const Extents &outer, const Extents &inner) {
            const Tile::Rules rules = find_tile_rules(depth, t, outer, inner);
            const int64_t size = size_of_tile(inner);
            at.tiles[t].rules = rules;
            if (rules.is_usable) {
                open.push_back({Block::Kind::AtTile, depth, t, begin, rules.shrinks ? size : 1});
            }
            begin += size;
        });
    }
    for (int depth = all.num_levels - 1; depth >= 0; depth--) {
        append(slide_block(depth));
    }
    return open;
}

std::vector<Decision> Placements::enumerate(std::vector<Decision> before) {
    const std::vector<Block> open = open_blocks();
    size_t most = 0;
    for (const Block &block : open) {
        most += static_cast<size_t>(block.size);
    }
    const Dimensions &dimensions = candidates().vector_dimensions;
    before.reserve(before.size() + dimensions.size * most);
    for (const int vector_dim : dimensions) {
        for (const Block &block : open) {
            append_options(block, vector_dim, before);
        }
    }
    return before;
}

bool Placements::has_obvious_choice(int64_t at_least) {
    const Dimensions dimensions = vector_dimensions();
    return std::ranges::count_if(dimensions, [&](int v) { return may_compute_at(0, v); }) >= at_least && is_allowed(0);
}

}  // namespace halidegym
