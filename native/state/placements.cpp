#include "state/placements.h"

#include <algorithm>

#include "nest/edits.h"
#include "nest/tilings.h"
#include "problem/error.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

Placements::Placements(const Space &space, LevelRef root, const Node &func)
    : space_(&space), problem_(space.problem.get()), func_(&func) {
    path_.push_back({.level = std::move(root), .tilings = {}, .tile_regions = {}, .tiles = {}, .trips_limit = {}});
    for (int s = 0; s < func.num_stages; s++) {
        called_by_func_.add_words(problem_->stage(func, s).producers);
    }
}

bool Placements::has_step(int depth) {
    while (static_cast<int>(path_.size()) <= depth) {
        const Step &last = path_.back();
        const int child = only_caller(*last.level, *func_);
        if (child < 0) {
            return false;
        }
        const LevelRef next = last.level->children[static_cast<size_t>(child)];
        path_.push_back({.level = next,
                         .child = child,
                         .instances = last.instances * next->size.product(),
                         .tilings = {},
                         .tile_regions = {},
                         .tiles = {},
                         .trips_limit = {}});
    }
    return true;
}

void Placements::require_step(int depth) {
    if (!has_step(depth)) {
        throw InvalidParameter("Func '" + func_->name + "' has no caller at depth " + std::to_string(depth) +
                               " of this nest; take decisions from the state they belong to");
    }
}

std::span<const Extents> Placements::tilings_of(Step &step) {
    if (step.tilings.empty()) {
        step.tilings = halidegym::tilings(step.level->size);
        step.tile_regions.resize(step.tilings.size());
        step.tiles.resize(step.tilings.size());
    }
    return step.tilings;
}

const RegionsRef &Placements::tile_regions(int depth, size_t tile) {
    Step &at = step(depth);
    auto &regions = at.tile_regions[tile];
    if (!regions) {
        LastingNests lasting;
        regions = halidegym::tile_regions(lasting, *problem_, *at.level, *step(depth - 1).level, at.tilings[tile]);
    }
    return regions;
}

// Whatever would need to know the region of a tiling is left to the test of the candidate.
const Placements::Candidates &Placements::candidates() {
    if (candidates_) {
        return *candidates_;
    }
    candidates_.emplace();
    candidates_->vector_dimensions = vector_dimensions();
    const auto add = [&](Block::Kind kind, int depth, size_t tile, int64_t size) {
        candidates_->blocks.push_back({kind, depth, tile, candidates_->per_dimension, size});
        candidates_->per_dimension += size;
    };
    const bool single = func_->num_stages == 1;
    int depths = 0;
    for (; is_entered(depths); depths++) {
        add(Block::Kind::AtLevel, depths, 0, 1);
        if (!may_be_tiled(depths)) {
            continue;
        }
        const Level &level = *step(depths).level;
        const auto all = tilings_of(step(depths));
        for (size_t t = 0; t < all.size(); t++) {
            if (keeps_cores_busy(level, all[t])) {
                const bool splits = single && space_->options.subtiling;
                add(Block::Kind::AtTile, depths, t,
                    1 + (single ? 1 : 0) + (splits ? num_whole_loop_tilings(inner_trips(level.size, all[t])) : 0));
            }
        }
    }
    for (int depth = 0; depth + 1 < depths; depth++) {
        if (may_slide(depth)) {
            const Level &next = *step(depth + 1).level;
            add(Block::Kind::Sliding, depth, 0, 1 + (next.tileable ? num_whole_loop_tilings(next.size) : 0));
        }
    }
    return *candidates_;
}

Decision Placements::decision_at(const Block &block, int vector_dim, int64_t offset) {
    using Kind = Decision::Kind;
    Decision decision{.kind = Kind::ComputeAtLevel,
                      .vector_dim = static_cast<uint8_t>(vector_dim),
                      .depth = static_cast<uint16_t>(block.depth),
                      .tile = static_cast<uint32_t>(block.tile)};
    if (block.kind == Block::Kind::AtTile) {
        decision.kind = offset == 0 ? Kind::ComputeAtTile : offset == 1 ? Kind::StoreAtTile : Kind::StoreAtTileSplit;
        decision.inner_tile = offset < 2 ? 0 : static_cast<uint32_t>(offset - 2);
    } else if (block.kind == Block::Kind::Sliding) {
        decision.kind = offset == 0 ? Kind::StoreAtLevel : Kind::StoreAtLevelSplit;
        decision.inner_tile = offset < 1 ? 0 : static_cast<uint32_t>(offset - 1);
    }
    return decision;
}

Placements::Block::Kind Placements::kind_of_block(const Decision &decision) {
    switch (decision.kind) {
    case Decision::Kind::ComputeAtLevel:
        return Block::Kind::AtLevel;
    case Decision::Kind::StoreAtLevel:
    case Decision::Kind::StoreAtLevelSplit:
        return Block::Kind::Sliding;
    default:
        return Block::Kind::AtTile;
    }
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
    return static_cast<int64_t>(all.vector_dimensions.size()) * all.per_dimension;
}

std::optional<Decision> Placements::option(int64_t index) {
    const Candidates &all = candidates();
    const int vector_dim = all.vector_dimensions[static_cast<size_t>(index / all.per_dimension)];
    index %= all.per_dimension;
    const auto after = std::upper_bound(all.blocks.begin(), all.blocks.end(), index,
                                        [](int64_t value, const Block &block) { return value < block.begin; });
    const Block &block = *std::prev(after);
    const Decision decision = decision_at(block, vector_dim, index - block.begin);
    return is_option(decision) && is_open(block) ? std::optional(decision) : std::nullopt;
}

bool Placements::has_option(const Decision &decision) {
    const Candidates &all = candidates();
    const auto is_of = [&](const Block &block) {
        return block.kind == kind_of_block(decision) && block.depth == decision.depth && block.tile == decision.tile;
    };
    const auto block = std::find_if(all.blocks.begin(), all.blocks.end(), is_of);
    const auto dimension = std::ranges::find(all.vector_dimensions, int{decision.vector_dim});
    if (block == all.blocks.end() || dimension == all.vector_dimensions.end()) {
        return false;
    }
    const int64_t offset = offset_of(decision);
    return offset < block->size && decision == decision_at(*block, *dimension, offset) && is_option(decision) &&
           is_open(*block);
}

void Placements::append_options(const Block &block, int vector_dim, std::vector<Decision> &out) {
    const auto append = [&](int64_t offset) {
        const Decision decision = decision_at(block, vector_dim, offset);
        if (is_option(decision)) {
            out.push_back(decision);
        }
    };
    // In a tiling, the reference computes between the halves last.
    const int64_t last = block.kind == Block::Kind::AtTile ? 1 : 0;
    for (int64_t offset = last; offset < block.size; offset++) {
        append(offset);
    }
    if (last > 0) {
        append(0);
    }
}

// The reference comes to sliding windows on its way back from the innermost level.
std::vector<Decision> Placements::enumerate() {
    const Candidates &all = candidates();
    std::vector<Block> open;  // which does not depend on the vector dimension
    const auto slides = std::ranges::find(all.blocks, Block::Kind::Sliding, &Block::kind);
    std::copy_if(all.blocks.begin(), slides, std::back_inserter(open), [&](const Block &b) { return is_open(b); });
    std::copy_if(std::reverse_iterator(all.blocks.end()), std::reverse_iterator(slides), std::back_inserter(open),
                 [&](const Block &b) { return is_open(b); });
    std::vector<Decision> decisions;
    for (const int vector_dim : all.vector_dimensions) {
        for (const Block &block : open) {
            append_options(block, vector_dim, decisions);
        }
    }
    return decisions;
}

bool Placements::has_obvious_choice(int64_t at_least) {
    const auto dimensions = vector_dimensions();
    return std::ranges::count_if(dimensions, [&](int v) { return may_compute_at(0, v); }) >= at_least && is_allowed(0);
}

}  // namespace halidegym
