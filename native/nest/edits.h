#pragma once

#include "nest/level.h"

namespace halidegym {

// The elementary edits of a loop nest. Each takes levels by value or reference and returns new ones; published levels
// are never changed. Sections and quirks are those of docs/specification/search-space.md.

LevelRef publish(Level level);

// The empty nest: nothing scheduled yet.
LevelRef empty_nest(const Problem &problem);

// Whether the body of `level` calls the Func, directly or through Funcs inlined there.
bool calls(const Problem &problem, const Level &level, const Node &func);

// The child of `level` that calls the Func if exactly one does, else -1.
int only_caller(const Problem &problem, const Level &level, const Node &func);

// Calls of the Func per iteration of a leaf, directly and through Funcs inlined there.
int64_t inline_multiplicity(const Problem &problem, const Level &leaf, const Node &func);

// The nest with the Func inlined into every leaf that calls it (section 8.1).
LevelRef inline_func(const Problem &problem, const Level &level, const Node &func);

// `level` with all stages of the Func computed in its body, vectorized over argument `vector_dim` (section 8.2).
Level compute_here(const Problem &problem, Level level, const Node &func, int vector_dim, bool subtiling);

// B(outer, ·) of `level` split into `outer_trips` tiles (section 8.3).
std::shared_ptr<const Regions> tile_regions(const Problem &problem, const Level &level, const Level &parent,
                                            const Extents &outer_trips);

// The two levels that `level` becomes when split; the outer one has no children yet (section 8.3).
struct Tiles {
    Level outer;
    Level inner;
};
Tiles tile(const Level &level, const Extents &outer_trips, std::shared_ptr<const Regions> outer_regions,
           bool subtiling);

// Trip counts of the inner level of a split.
Extents inner_trips(const Extents &size, const Extents &outer_trips);

// A root child split into parallel tasks; `tasks` is indexed by pure dimension (section 8.4).
Level parallelize(const Problem &problem, const Level &level, const Level &root, const Extents &tasks, bool subtiling);

}  // namespace halidegym
