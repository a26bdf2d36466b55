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

using LoopSpans = std::array<Span, max_loops>;

std::span<const Span> view(const LoopSpans &spans, size_t count) {
    return {spans.data(), count};
}

// One stage of a Func computed in a body: its outermost level, with the vector leaf inside if it has one.
LevelRef compute_stage(NestMaker &make, const Problem &problem, const Node &func, const Stage &stage,
                       const Bound &bound, int vector_dim, bool tileable) {
    LevelShape shape;
    shape.node = func.id;
    shape.stage = stage.id;
    shape.vector_dim = vector_dim;
    shape.tileable = tileable;
    shape.called.add_words(stage.producers);
    const auto loops = bound.loops(stage.index);
    LoopSpans representative;
    for (size_t i = 0; i < loops.size(); i++) {
        const Span &loop = loops[i];
        const bool vectorized = func.dimensions > 0 && stage.loops[i].pure_dim == vector_dim;
        const int64_t lanes = vectorized ? stage.vector_size : 1;
        const int64_t trips = ceil_div(loop.extent(), lanes);
        const int64_t min = loop.min + lanes * (trips / 2);
        shape.size.push_back(trips);
        representative[i] = {min, min + lanes - 1, true};
        if (vectorized) {
            shape.vectorized_loop = static_cast<int>(i);
        }
    }
    shape.innermost = shape.vectorized_loop < 0;
    const Draft level = make.level(shape);
    level->regions = make.regions(problem, stage, bound, view(representative, loops.size()));
    if (!shape.innermost) {
        shape.innermost = true;
        shape.tileable = false;
        shape.size = Extents(shape.size.size(), 1);
        shape.size[shape.vectorized_loop] = stage.vector_size;
        const Draft leaf = make.level(shape);
        auto &vector_loop = representative[static_cast<size_t>(shape.vectorized_loop)];
        vector_loop.max = vector_loop.min;
        leaf->regions = make.regions(problem, stage, bound, view(representative, loops.size()));
        level->children.push_back(leaf);
    }
    return level;
}

// The middle one of `count` tiles of `loop`, with the flag that the caller's rule gives it.
Span representative_tile(const Span &loop, int64_t count, bool constant_extent) {
    const int64_t points = ceil_div(loop.extent(), count);
    const int64_t min = loop.min + (count / 2) * points;
    return {min, min + points - 1, constant_extent};
}

// The outer half of a level, which becomes the inner one.
Draft split(NestMaker &make, Level &level, const Extents &outer_trips, const Extents &inner, RegionsRef outer_regions) {
    const Draft outer = make.level(level);
    outer->size = outer_trips;
    outer->innermost = false;
    outer->parallel = false;
    outer->regions = std::move(outer_regions);
    level.size = inner;
    level.parallel = false;
    return outer;
}

}  // namespace

LevelRef empty_nest(const Problem &problem) {
    auto root = std::make_shared<Level>();
    root->regions = std::make_shared<const Regions>(problem);
    return root;
}

int only_caller(const Level &level, const Node &func) {
    int caller = -1;
    for (size_t c = 0; c < level.children.size(); c++) {
        if (level.children[c]->called.contains(func.id)) {
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

LevelRef inline_func(NestMaker &make, const Problem &problem, const Level &level, const Node &func) {
    const Draft edited = make.copy(level);
    edited->called.add_words(problem.stage(func, 0).producers);
    for (LevelRef &child : edited->children) {
        if (child->called.contains(func.id)) {
            child = inline_func(make, problem, *child, func);
        }
    }
    if (edited->innermost) {
        const int64_t count = inline_multiplicity(problem, *edited, func);
        if (count != 0) {
            edited->inlined.emplace_back(func.id, count);
        }
    }
    return edited;
}

void compute_here(NestMaker &make, const Problem &problem, Level &level, const Node &func, int vector_dim,
                  bool subtiling) {
    if (!subtiling) {
        level.tileable = false;
    }
    const Bound &bound = level.regions->of(func.id);
    for (int s = func.num_stages - 1; s >= 0; s--) {
        const Stage &stage = problem.stage(func, s);
        level.called.add_words(stage.producers);
        level.children.push_back(
            compute_stage(make, problem, func, stage, bound, vector_dim, subtiling || level.is_root()));
    }
}

RegionsRef tile_regions(NestMaker &make, const Problem &problem, const Level &level, const Level &parent,
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
    return make.regions(problem, stage, level.regions->of(level.node), view(spans, loops.size()));
}

Extents inner_trips(const Extents &size, const Extents &outer_trips) {
    Extents inner;
    for (int i = 0; i < size.size(); i++) {
        inner.push_back(ceil_div(size[i], outer_trips[i]));
    }
    return inner;
}

Draft tile(NestMaker &make, Level &level, const Extents &outer_trips, RegionsRef outer_regions, bool subtiling) {
    const bool parallel = level.parallel;
    const Draft outer = split(make, level, outer_trips, inner_trips(level.size, outer_trips), std::move(outer_regions));
    outer->parallel = parallel;
    outer->tileable = subtiling;
    level.tileable = subtiling;
    return outer;
}

LevelRef parallelize(NestMaker &make, const Problem &problem, const Level &level, const Level &root,
                     const Extents &tasks, bool subtiling) {
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
    auto regions = make.regions(problem, stage, level.regions->of(level.node), view(spans, loops.size()));
    const Draft inner_level = make.copy(level);
    const Draft outer_level = split(make, *inner_level, outer, inner, std::move(regions));
    outer_level->parallel = true;
    outer_level->tileable = subtiling;
    inner_level->tileable = level.tileable && subtiling;
    outer_level->children.push_back(inner_level);
    return outer_level;
}

}  // namespace halidegym
