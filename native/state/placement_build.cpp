#include "nest/edits.h"
#include "nest/nest_maker.h"
#include "nest/tilings.h"
#include "problem/error.h"
#include "state/placements.h"

namespace halidegym {

// The nests that the options of a Func lead to (docs/specification/search-space.md, section 10).

size_t Placements::place_of_tile(const Decision &decision) {
    const LevelTilings &tilings = tilings_of(step(decision.depth));
    const size_t place = tilings.place_of(decision.tile);
    if (place == tilings.size()) {
        throw InvalidParameter("Func '" + func_->name + "' cannot be placed at tiling " +
                               std::to_string(decision.tile) + " of the level at depth " +
                               std::to_string(decision.depth) + "; take decisions from the state they belong to");
    }
    return place;
}

Extents Placements::outer_tile(const Decision &decision) {
    return tilings_of(step(decision.depth)).outer(place_of_tile(decision));
}

Extents Placements::inner_tile(const Decision &decision) {
    if (decision.kind == Decision::Kind::StoreAtLevelSplit) {
        return whole_loop_tiling(step(decision.depth + 1).level->size, decision.inner_tile);
    }
    const Extents inner = inner_trips(step(decision.depth).level->size, outer_tile(decision));
    return whole_loop_tiling(inner, decision.inner_tile);
}

// The compute site of a Func that is stored further out: it may not be tiled again.
LevelRef Placements::compute_inside(NestMaker &make, Draft level, int vector_dim) const {
    compute_here(make, *problem_, *level, *func_, vector_dim, space_->options.subtiling);
    level->tileable = false;
    return level;
}

// `level` split once more into whole loops outside and inside, and the Func computed between.
LevelRef Placements::compute_in_split(NestMaker &make, const Draft &level, const Level &parent,
                                      const Decision &decision) const {
    const Extents trips = whole_loop_tiling(level->size, decision.inner_tile);
    auto regions = halidegym::tile_regions(make, *problem_, *level, parent, trips);
    const Draft outer = halidegym::tile(make, *level, trips, std::move(regions), space_->options.subtiling);
    outer->children.push_back(level);
    return compute_inside(make, outer, decision.vector_dim);
}

// Whatever contains the Func calls what the Func calls.
void Placements::add_calls(Level &level) const {
    for (int s = 0; s < func_->num_stages; s++) {
        level.called.add_words(problem_->stage(*func_, s).producers);
    }
}

// The whole nest, with an edited level at this depth, in whose body the Func is computed.
LevelRef Placements::replace_to_root(NestMaker &make, int depth, LevelRef edited) {
    for (int d = depth; d > 0; d--) {
        const Draft parent = make.copy(*step(d - 1).level);
        parent->children[static_cast<size_t>(step(d).child)] = std::move(edited);
        add_calls(*parent);
        edited = parent;
    }
    return edited;
}

LevelRef Placements::build(NestMaker &make, const Decision &decision) {
    using Kind = Decision::Kind;
    const int depth = decision.depth;
    const Level &level = *step(depth).level;
    const bool subtiling = space_->options.subtiling;

    if (decision.kind == Kind::ComputeAtLevel) {
        const Draft edited = make.copy(level);
        compute_here(make, *problem_, *edited, *func_, decision.vector_dim, subtiling);
        edited->store_at.push_back(func_->id);
        return replace_to_root(make, depth, edited);
    }
    if (decision.kind == Kind::StoreAtLevel || decision.kind == Kind::StoreAtLevelSplit) {
        const Step &next = step(depth + 1);
        const Draft edited = make.copy(level);
        edited->children[static_cast<size_t>(next.child)] =
            decision.kind == Kind::StoreAtLevel ? compute_inside(make, make.copy(*next.level), decision.vector_dim)
                                                : compute_in_split(make, make.copy(*next.level), level, decision);
        add_calls(*edited);
        edited->store_at.push_back(func_->id);
        return replace_to_root(make, depth, edited);
    }

    const size_t place = place_of_tile(decision);
    const Extents outer_trips = tilings_of(step(depth)).outer(place);
    const Draft inner = make.copy(level);
    const Draft outer = halidegym::tile(make, *inner, outer_trips, tile_regions(depth, place, outer_trips), subtiling);
    outer->store_at.push_back(func_->id);
    add_calls(*outer);
    switch (decision.kind) {
    case Kind::StoreAtTile:
        outer->children.push_back(compute_inside(make, inner, decision.vector_dim));
        break;
    case Kind::StoreAtTileSplit:
        outer->children.push_back(compute_in_split(make, inner, *outer, decision));
        break;
    default:
        outer->children.push_back(inner);
        compute_here(make, *problem_, *outer, *func_, decision.vector_dim, subtiling);
        break;
    }
    return replace_to_root(make, depth, outer);
}

}  // namespace halidegym
