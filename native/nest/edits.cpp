#include "nest/edits.h"

#include "problem/error.h"

namespace halidegym {

namespace {

const Stage &stage_of(const Problem &problem, const Level &level) {
    return problem.stages[static_cast<size_t>(level.stage)];
}

int64_t inlined_count(const Level &level, int node) {
    for (const auto &[inlined, count] : level.inlined) {
        if (inlined == node) {
            return count;
        }
    }
    return 0;
}

// The body of a level whose bound record for its own Func is `own`, with the loops of its own stage replaced.
std::shared_ptr<const Regions> regions_with_loops(const Problem &problem, const Stage &stage, const Bound &own,
                                                  std::span<const Span> loops) {
    Bound bound = own;
    std::copy(loops.begin(), loops.end(), bound.mutable_loops(stage.index).begin());
    return std::make_shared<const Regions>(problem, stage.id, std::move(bound));
}

using LoopSpans = std::array<Span, max_loops>;

std::span<const Span> view(const LoopSpans &spans, size_t count) {
    return {spans.data(), count};
}

// One stage of a Func computed in the body of `site`: its outermost level, with the vector leaf inside if it has one.
LevelRef compute_stage(const Problem &problem, const Level &site, const Node &func, const Stage &stage,
                       const Bound &bound, int vector_dim, bool subtiling) {
    Level level;
    level.node = func.id;
    level.stage = stage.id;
    level.vector_dim = vector_dim;
    level.innermost = true;
    level.tileable = subtiling || site.is_root();
    const auto loops = bound.loops(stage.index);
    LoopSpans representative;
    for (size_t i = 0; i < loops.size(); i++) {
        const Span &loop = loops[i];
        const bool vectorized = func.dimensions > 0 && stage.loops[i].pure_dim == vector_dim;
        const int64_t lanes = vectorized ? stage.vector_size : 1;
        const int64_t trips = ceil_div(loop.extent(), lanes);
        const int64_t min = loop.min + lanes * (trips / 2);
        level.size.push_back(trips);
        representative[i] = {min, min + lanes - 1, true};
        if (vectorized) {
            level.vectorized_loop = static_cast<int>(i);
        }
    }
    level.regions = regions_with_loops(problem, stage, bound, view(representative, loops.size()));
    if (level.vectorized_loop >= 0) {
        const auto vector_loop = static_cast<size_t>(level.vectorized_loop);
        Level leaf;
        leaf.node = level.node;
        leaf.stage = level.stage;
        leaf.vector_dim = vector_dim;
        leaf.vectorized_loop = level.vectorized_loop;
        leaf.innermost = true;
        leaf.size = Extents(level.size.size(), 1);
        leaf.size[level.vectorized_loop] = stage.vector_size;
        representative[vector_loop].max = representative[vector_loop].min;
        leaf.regions = regions_with_loops(problem, stage, bound, view(representative, loops.size()));
        level.innermost = false;
        level.children.push_back(publish(std::move(leaf)));
    }
    return publish(std::move(level));
}

// The middle one of `count` tiles of `loop`, with the flag that the caller's rule gives it.
Span representative_tile(const Span &loop, int64_t count, bool constant_extent) {
    const int64_t points = ceil_div(loop.extent(), count);
    const int64_t min = loop.min + (count / 2) * points;
    return {min, min + points - 1, constant_extent};
}

Tiles split(const Level &level, const Extents &outer_trips, const Extents &inner,
            std::shared_ptr<const Regions> outer_regions) {
    Tiles tiles{.outer = {}, .inner = level};
    tiles.inner.size = inner;
    tiles.inner.parallel = false;
    tiles.outer.node = level.node;
    tiles.outer.stage = level.stage;
    tiles.outer.vector_dim = level.vector_dim;
    tiles.outer.vectorized_loop = level.vectorized_loop;
    tiles.outer.size = outer_trips;
    tiles.outer.regions = std::move(outer_regions);
    return tiles;
}

}  // namespace

LevelRef publish(Level level) {
    return std::make_shared<const Level>(std::move(level));
}

LevelRef empty_nest(const Problem &problem) {
    Level root;
    root.regions = std::make_shared<const Regions>(problem);
    return publish(std::move(root));
}

bool calls(const Problem &problem, const Level &level, const Node &func) {
    for (const int e : func.outgoing) {
        const Edge &edge = problem.edges[static_cast<size_t>(e)];
        if (edge.consumer_stage == level.stage ||
            inlined_count(level, problem.stages[static_cast<size_t>(edge.consumer_stage)].node) > 0) {
            return true;
        }
    }
    return std::any_of(level.children.begin(), level.children.end(),
                       [&](const LevelRef &child) { return calls(problem, *child, func); });
}

int only_caller(const Problem &problem, const Level &level, const Node &func) {
    int caller = -1;
    for (size_t c = 0; c < level.children.size(); c++) {
        if (calls(problem, *level.children[c], func)) {
            if (caller >= 0) {
                return -1;
            }
            caller = static_cast<int>(c);
        }
    }
    return caller;
}

int64_t inline_multiplicity(const Problem &problem, const Level &leaf, const Node &func) {
    int64_t count = 0;
    for (const int e : func.outgoing) {
        const Edge &edge = problem.edges[static_cast<size_t>(e)];
        count += inlined_count(leaf, problem.stages[static_cast<size_t>(edge.consumer_stage)].node) * edge.calls;
        if (edge.consumer_stage == leaf.stage) {
            count += edge.calls;
        }
    }
    return count;
}

LevelRef inline_func(const Problem &problem, const Level &level, const Node &func) {
    Level edited = level;
    for (LevelRef &child : edited.children) {
        if (calls(problem, *child, func)) {
            child = inline_func(problem, *child, func);
        }
    }
    if (edited.innermost) {
        const int64_t count = inline_multiplicity(problem, edited, func);
        if (count != 0) {
            edited.inlined.emplace_back(func.id, count);
        }
    }
    return publish(std::move(edited));
}

Level compute_here(const Problem &problem, Level level, const Node &func, int vector_dim, bool subtiling) {
    if (!subtiling) {
        level.tileable = false;
    }
    const Bound &bound = level.regions->of(func.id);
    for (int s = func.num_stages - 1; s >= 0; s--) {
        level.children.push_back(
            compute_stage(problem, level, func, problem.stage(func, s), bound, vector_dim, subtiling));
    }
    return level;
}

std::shared_ptr<const Regions> tile_regions(const Problem &problem, const Level &level, const Level &parent,
                                            const Extents &outer_trips) {
    const Stage &stage = stage_of(problem, level);
    const auto loops = parent.regions->of(level.node).loops(stage.index);
    LoopSpans spans;
    for (size_t i = 0; i < loops.size(); i++) {
        const int64_t trips = outer_trips[static_cast<int>(i)];
        const int64_t points = ceil_div(loops[i].extent(), trips);
        spans[i] = representative_tile(loops[i], trips,
                                       (loops[i].constant_extent || trips > 1) &&
                                           (points == 1 || trips == 1 || stage.index == 0));
    }
    return regions_with_loops(problem, stage, level.regions->of(level.node), view(spans, loops.size()));
}

Extents inner_trips(const Extents &size, const Extents &outer_trips) {
    Extents inner;
    for (int i = 0; i < size.size(); i++) {
        inner.push_back(ceil_div(size[i], outer_trips[i]));
    }
    return inner;
}

Tiles tile(const Level &level, const Extents &outer_trips, std::shared_ptr<const Regions> outer_regions,
           bool subtiling) {
    Tiles tiles = split(level, outer_trips, inner_trips(level.size, outer_trips), std::move(outer_regions));
    tiles.outer.parallel = level.parallel;
    tiles.outer.tileable = subtiling;
    tiles.inner.tileable = subtiling;
    return tiles;
}

Level parallelize(const Problem &problem, const Level &level, const Level &root, const Extents &tasks, bool subtiling) {
    const Stage &stage = stage_of(problem, level);
    const auto loops = root.regions->of(level.node).loops(stage.index);
    Extents outer;
    Extents inner;
    LoopSpans spans;
    for (size_t i = 0; i < loops.size(); i++) {
        const Loop &loop = stage.loops[i];
        const int64_t size = level.size[static_cast<int>(i)];
        int64_t requested = 1;
        if (loop.pure_dim >= 0) {
            if (loop.pure_dim >= tasks.size()) {
                // Without subtiling the counts are those of the stage's own loops, and the reference fails here, too
                // (docs/specification/search-space.md, quirk 7).
                throw UnsupportedPipeline("Stage '" + stage.name +
                                          "' has fewer loops than its Func has dimensions, so its " +
                                          "loops cannot be made parallel without subtiling; search with subtiling");
            }
            requested = tasks[loop.pure_dim];
        }
        inner.push_back(ceil_div(size, requested));
        const int64_t trips = ceil_div(size, inner[static_cast<int>(i)]);
        outer.push_back(trips);
        spans[i] = representative_tile(loops[i], trips, loops[i].constant_extent || (trips > 1 && loop.pure));
    }
    auto regions = regions_with_loops(problem, stage, level.regions->of(level.node), view(spans, loops.size()));
    Tiles tiles = split(level, outer, inner, std::move(regions));
    tiles.outer.parallel = true;
    tiles.outer.tileable = subtiling;
    tiles.inner.tileable = level.tileable && subtiling;
    tiles.outer.children.push_back(publish(std::move(tiles.inner)));
    return std::move(tiles.outer);
}

}  // namespace halidegym
