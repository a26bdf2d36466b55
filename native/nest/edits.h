#pragma once

#include "nest/level.h"
#include "nest/nest_maker.h"

namespace halidegym {

// The elementary edits of a loop nest, whose levels are made by `make`. Published levels are never changed. Sections
// and quirks are those of docs/specification/search-space.md.

// The empty nest: nothing scheduled yet.
LevelRef empty_nest(const Problem &problem);

// The child of `level` that calls the Func if exactly one does, else -1.
int only_caller(const Level &level, const Node &func);

// Calls of the Func per iteration of a leaf, directly and through Funcs inlined there.
int64_t inline_multiplicity(const Problem &problem, const Level &leaf, const Node &func);

// The nest with the Func inlined into every leaf that calls it (section 8.1).
LevelRef inline_func(NestMaker &make, const Problem &problem, const Level &level, const Node &func);

// Computes all stages of the Func in the body of `level`, vectorized over argument `vector_dim` (section 8.2).
void compute_here(NestMaker &make, const Problem &problem, Level &level, const Node &func, int vector_dim,
                  bool subtiling);

// B(outer, ·) of `level` split into `outer_trips` tiles (section 8.3).
RegionsRef tile_regions(NestMaker &make, const Problem &problem, const Level &level, const Level &parent,
                        const Extents &outer_trips);

// The outer one of the two levels that `level` becomes when split, which has no children yet; `level` becomes the inner
// one (section 8.3).
Draft tile(NestMaker &make, Level &level, const Extents &outer_trips, RegionsRef outer_regions, bool subtiling);

// Trip counts of the inner level of a split.
Extents inner_trips(const Extents &size, const Extents &outer_trips);

// A root child split into parallel tasks; `tasks` is indexed by pure dimension (section 8.4).
LevelRef parallelize(NestMaker &make, const Problem &problem, const Level &level, const Level &root,
                     const Extents &tasks, bool subtiling);

}  // namespace halidegym
