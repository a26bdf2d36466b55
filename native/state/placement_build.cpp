#include "nest/edits.h"
#include "nest/tilings.h"
#include "state/placements.h"

namespace halidegym {

// The nests that the options of a Func lead to (docs/specification/search-space.md, section 10).

const Extents &Placements::outer_tile(const Decision &decision) {
    return tilings_of(step(decision.depth))[decision.tile];
}

Extents Placements::inner_tile(const Decision &decision) {
    if (decision.kind == Decision::Kind::StoreAtLevelSplit) {
        return whole_loop_tiling(step(decision.depth + 1).level->size, decision.inner_tile);
    }
    const Extents inner = inner_trips(step(decision.depth).level->size, outer_tile(decision));
    return whole_loop_tiling(inner, decision.inner_tile);
}

// The compute site of a Func that is stored further out: it may not be tiled again.
Level Placements::compute_inside(Level level, int vector_dim) const {
    Level result = compute_here(*problem_, std::move(level), *func_, vector_dim, space_->options.subtiling);
    result.tileable = false;
    return result;
}

// `level` split once more into whole loops outside and inside, and the Func computed between.
LevelRef Placements::compute_in_split(const Level &level, const Level &parent, const Decision &decision) const {
    const Extents outer = whole_loop_tiling(level.size, decision.inner_tile);
    Tiles tiles = halidegym::tile(level, outer, halidegym::tile_regions(*problem_, level, parent, outer),
                                  space_->options.subtiling);
    tiles.outer.children.push_back(publish(std::move(tiles.inner)));
    return publish(compute_inside(std::move(tiles.outer), decision.vector_dim));
}

LevelRef Placements::replace_to_root(int depth, LevelRef edited) {
    for (int d = depth; d > 0; d--) {
        Level parent = *step(d - 1).level;
        parent.children[static_cast<size_t>(step(d).child)] = std::move(edited);
        edited = publish(std::move(parent));
    }
    return edited;
}

LevelRef Placements::build(const Decision &decision) {
    using Kind = Decision::Kind;
    const int depth = decision.depth;
    const Level &level = *step(depth).level;
    const bool subtiling = space_->options.subtiling;

    if (decision.kind == Kind::ComputeAtLevel) {
        Level edited = compute_here(*problem_, level, *func_, decision.vector_dim, subtiling);
        edited.store_at.push_back(func_->id);
        return replace_to_root(depth, publish(std::move(edited)));
    }
    if (decision.kind == Kind::StoreAtLevel || decision.kind == Kind::StoreAtLevelSplit) {
        const Step &next = step(depth + 1);
        Level edited = level;
        edited.children[static_cast<size_t>(next.child)] =
            decision.kind == Kind::StoreAtLevel ? publish(compute_inside(*next.level, decision.vector_dim))
                                                : compute_in_split(*next.level, level, decision);
        edited.store_at.push_back(func_->id);
        return replace_to_root(depth, publish(std::move(edited)));
    }

    const Extents &outer_trips = outer_tile(decision);
    Tiles tiles = halidegym::tile(level, outer_trips, tile_regions(depth, decision.tile), subtiling);
    tiles.outer.store_at.push_back(func_->id);
    switch (decision.kind) {
    case Kind::StoreAtTile:
        tiles.outer.children.push_back(publish(compute_inside(std::move(tiles.inner), decision.vector_dim)));
        break;
    case Kind::StoreAtTileSplit:
        tiles.outer.children.push_back(compute_in_split(tiles.inner, tiles.outer, decision));
        break;
    default:
        tiles.outer.children.push_back(publish(std::move(tiles.inner)));
        tiles.outer = compute_here(*problem_, std::move(tiles.outer), *func_, decision.vector_dim, subtiling);
        break;
    }
    return replace_to_root(depth, publish(std::move(tiles.outer)));
}

}  // namespace halidegym
