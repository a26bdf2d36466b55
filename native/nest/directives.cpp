#include "nest/directives.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "problem/error.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {
namespace {

using Kind = Directive::Kind;

constexpr int64_t max_stack_bytes = 64000;   // section 13.2, step 3
constexpr int64_t max_unrolled_points = 12;  // section 13.5

// A loop of a stage at one tiling level (section 13.1).
struct TiledLoop {
    LoopVariable variable;
    int64_t extent = 1;
    bool constant = false;
    bool pure = false;
    bool rvar = false;
    bool parallel = false;
    bool outermost = false;
    bool exists = false;
    bool vectorized = false;
};

// What the walk knows of one stage. Its loops come in groups of one per loop, innermost tiling level first.
struct StageState {
    int stage = 0;
    const Level *site = nullptr;  // the outermost level of the stage
    std::vector<TiledLoop> loops{};
    std::vector<Directive> directives{};
};

int64_t round_up(int64_t value, int64_t multiple) {
    return ceil_div(value, multiple) * multiple;
}

const Level &leaf_of(const Level &level) {
    const Level *leaf = &level;
    while (!leaf->innermost) {
        leaf = leaf->children.at(0).get();
    }
    return *leaf;
}

bool stage_reads_input(const Problem &problem, const Stage &stage) {
    return stage.reads_image || std::any_of(stage.incoming.begin(), stage.incoming.end(), [&](int edge) {
               return problem.nodes[problem.edges[edge].producer].is_input;
           });
}

// Whether anything computed within the level reads an input (section 13.2, step 4).
bool reads_input(const Problem &problem, const Level &level) {
    return stage_reads_input(problem, problem.stages[level.stage]) ||
           std::any_of(level.inlined.begin(), level.inlined.end(),
                       [&](const auto &inlined) {
                           return stage_reads_input(problem, problem.stage(problem.nodes[inlined.first], 0));
                       }) ||
           std::any_of(level.children.begin(), level.children.end(),
                       [&](const LevelRef &child) { return reads_input(problem, *child); });
}

class Walk {
public:
    explicit Walk(const Problem &problem) : problem_(problem) {}

    std::vector<StageDirectives> run(const Level &root) {
        for (const LevelRef &child : root.children) {
            visit(*child, root, LoopPosition{}, 1);
            place(*child, LoopPosition{});
        }
        // The plugin keeps stages in a map that remembers insertion order until it holds more than four entries.
        if (states_.size() > 4) {
            std::sort(states_.begin(), states_.end(),
                      [](const StageState &a, const StageState &b) { return a.stage < b.stage; });
        }
        std::vector<StageDirectives> result;
        for (StageState &state : states_) {
            result.push_back(finish(std::move(state)));
        }
        return result;
    }

private:
    const Stage &stage_of(const Level &level) const { return problem_.stages[level.stage]; }

    StageState &state(int stage) {
        const auto found = std::find_if(states_.begin(), states_.end(),
                                        [&](const StageState &candidate) { return candidate.stage == stage; });
        if (found == states_.end()) {
            throw InternalError("the loop nest never reaches the outermost level of stage " + std::to_string(stage));
        }
        return *found;
    }

    void add(int stage, Directive directive) { state(stage).directives.push_back(std::move(directive)); }

    // The text of a placement belongs to the pure stage.
    void place(const Level &child, const LoopPosition &position) {
        if (stage_of(child).index == 0) {
            add(child.stage, {.kind = Kind::ComputeAt, .position = position});
        }
    }

    // Section 13.2, for a level whose body is at `depth`.
    void visit(const Level &level, const Level &parent, LoopPosition position, int depth) {
        const Stage &stage = stage_of(level);
        if (parent.node != level.node) {
            begin(level, parent, depth);
        }
        if (!stage.loops.empty()) {
            if (!level.innermost) {
                position = split(level);
            } else if (level.vectorized_loop >= 0) {
                vectorize(level.stage);
            }
        }
        if (level.innermost) {
            return;
        }
        for (const LevelRef &child : level.children) {
            visit(*child, level, position, depth + 1);
            if (child->node != level.node) {
                place(*child, position);
            }
        }
        for (const int node : level.store_at) {
            const bool computed_here = std::any_of(level.children.begin(), level.children.end(),
                                                   [&](const LevelRef &child) { return child->node == node; });
            if (!computed_here) {
                add(problem_.nodes[node].first_stage, {.kind = Kind::StoreAt, .position = position});
            }
        }
    }

    // At the outermost level of a stage: its loops (section 13.1) and where its Func is stored.
    void begin(const Level &level, const Level &parent, int depth) {
        const Stage &stage = stage_of(level);
        const Node &node = problem_.node_of(stage);
        const Bound &bound = parent.regions->of(node.id);
        const auto loops = bound.loops(stage.index);
        StageState state{.stage = stage.id, .site = &level};
        for (int i = 0; i < static_cast<int>(stage.loops.size()); i++) {
            const Loop &loop = stage.loops[i];
            state.loops.push_back({.variable = {.loop = i, .splits = 0},
                                   .extent = loops[i].extent(),
                                   .constant = loops[i].constant_extent,
                                   .pure = loop.pure,
                                   .rvar = loop.rvar,
                                   .parallel = loop.pure && level.parallel,
                                   .outermost = true,
                                   .exists = true,
                                   .vectorized = i == level.vectorized_loop});
        }
        for (int i = level.vectorized_loop; i > 0 && state.loops[i - 1].pure; i--) {
            std::swap(state.loops[i], state.loops[i - 1]);
        }
        const bool fits = node.bytes_per_point * bound.volume_computed() < max_stack_bytes;
        if (stage.index == 0 && fits && depth > 2) {
            state.directives.push_back({.kind = Kind::StoreInStack});
        }
        states_.push_back(std::move(state));
    }

    TailStrategy tail_of_pure_loops(const StageState &state) const {
        const Stage &stage = problem_.stages[state.stage];
        if (!problem_.node_of(stage).is_output && !reads_input(problem_, *state.site)) {
            return TailStrategy::RoundUp;
        }
        return stage.index == 0 ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf;
    }

    // Sections 13.3 to 13.5: splits off the tiling levels inside this one; returns the position of what is placed in
    // it.
    LoopPosition split(const Level &level) {
        StageState &state = this->state(level.stage);
        const Stage &stage = stage_of(level);
        const size_t loops = stage.loops.size();
        const Level &leaf = leaf_of(level);
        const Level &next = *level.children.at(0);
        const TailStrategy pure_tail = tail_of_pure_loops(state);

        std::vector<TiledLoop> inner_group;
        for (size_t i = 0; i < loops; i++) {
            TiledLoop &outer = state.loops[i];
            const int loop = outer.variable.loop;
            int64_t factor = ceil_div(outer.extent, level.size[loop]);
            if (outer.vectorized) {
                factor = round_up(factor, leaf.size[loop]);
            }
            factor = std::max(factor, leaf.size[loop]);

            if (!outer.exists || factor == 1) {
                inner_group.push_back(TiledLoop{});
                continue;
            }
            // A whole dimension about to be vectorized is split all the same, so that what is vectorized is a split's
            // result.
            const bool must_split = next.innermost && outer.vectorized && outer.variable.splits == 0;
            TiledLoop inner = outer;
            inner.parallel = false;
            if (level.size[loop] == 1 && !must_split) {
                inner_group.push_back(inner);
                outer.exists = false;
                outer.extent = 1;
                continue;
            }
            TailStrategy tail = pure_tail;
            if (outer.rvar || (stage.index > 0 && !outer.outermost) ||
                (tail == TailStrategy::ShiftInwards && factor > outer.extent)) {
                tail = TailStrategy::GuardWithIf;
            }
            inner.variable.splits++;
            inner.extent = factor;
            inner.constant = tail != TailStrategy::GuardWithIf;
            inner.outermost = false;
            state.directives.push_back(
                {.kind = Kind::Split, .loops = {outer.variable, inner.variable}, .factor = factor, .tail = tail});
            inner_group.push_back(inner);
            outer.extent = level.size[loop];
        }
        if (next.innermost) {
            unroll(state, loops);
        }
        const auto innermost =
            std::find_if(state.loops.begin(), state.loops.end(), [](const TiledLoop &loop) { return loop.exists; });
        LoopPosition position{.stage = level.stage};
        if (innermost != state.loops.end()) {
            position.variable = innermost->variable;
        }
        state.loops.insert(state.loops.begin(), inner_group.begin(), inner_group.end());
        return position;
    }

    // Section 13.5. Loops that moved inwards take part with extent 1 and the flag they had (quirk 23).
    static void unroll(StageState &state, size_t loops) {
        const auto begin = state.loops.begin();
        const auto end = begin + static_cast<std::ptrdiff_t>(loops);
        int64_t points = 1;
        bool constant = true;
        for (auto loop = begin; loop != end; ++loop) {
            if (loop->pure) {
                points *= loop->extent;
                constant = constant && loop->constant;
            }
        }
        if (points > max_unrolled_points || !constant) {
            return;
        }
        std::stable_partition(begin, end, [](const TiledLoop &loop) { return loop.pure; });
        for (auto loop = begin; loop != end; ++loop) {
            if (loop->pure && loop->exists && loop->extent > 1) {
                state.directives.push_back({.kind = Kind::Unroll, .loops = {loop->variable}});
            }
        }
    }

    void vectorize(int stage) {
        StageState &state = this->state(stage);
        const auto marked =
            std::find_if(state.loops.begin(), state.loops.end(), [](const TiledLoop &loop) { return loop.vectorized; });
        if (marked == state.loops.end()) {
            throw InternalError("no loop of stage " + problem_.stages[stage].name + " is marked as vectorized");
        }
        state.directives.push_back({.kind = Kind::Vectorize, .loops = {marked->variable}});
    }

    // Section 13.6.
    StageDirectives finish(StageState state) const {
        const Stage &stage = problem_.stages[state.stage];
        std::vector<TiledLoop> parallel;  // outermost first
        for (auto loop = state.loops.rbegin(); loop != state.loops.rend(); ++loop) {
            if (!loop->exists || loop->extent == 1) {
                continue;
            }
            if (!loop->parallel) {
                break;
            }
            parallel.push_back(*loop);
        }
        StageDirectives result{.stage = stage.id, .directives = std::move(state.directives)};
        for (const TiledLoop &loop : state.loops) {
            if (loop.exists) {
                result.loops.push_back(loop.variable);
            }
        }
        if (state.loops.size() > 1) {
            result.directives.push_back({.kind = Kind::Reorder, .loops = result.loops});
        }
        const bool mixed = std::any_of(parallel.begin(), parallel.end(),
                                       [&](const TiledLoop &loop) { return loop.rvar != parallel.front().rvar; });
        for (size_t i = 0; i < parallel.size(); i++) {
            if (!mixed && i > 0) {
                result.directives.push_back(
                    {.kind = Kind::Fuse, .loops = {parallel[i].variable, parallel[i - 1].variable}});
            }
            if (mixed || i + 1 == parallel.size()) {
                result.directives.push_back({.kind = Kind::Parallel, .loops = {parallel[i].variable}});
            }
        }
        if (stage.index == 0 && state.site->vector_dim > 0) {
            Directive storage{.kind = Kind::ReorderStorage};
            storage.dimensions.push_back(state.site->vector_dim);
            for (int i = 0; i < problem_.node_of(stage).dimensions; i++) {
                if (i != state.site->vector_dim) {
                    storage.dimensions.push_back(i);
                }
            }
            result.directives.push_back(std::move(storage));
        }
        return result;
    }

    const Problem &problem_;
    std::vector<StageState> states_;  // in the order in which the walk meets them
};

}  // namespace

std::vector<StageDirectives> directives(const Problem &problem, const Level &root) {
    return Walk(problem).run(root);
}

std::string_view tail_strategy_name(TailStrategy tail) {
    constexpr std::array<std::string_view, 3> names = {"RoundUp", "GuardWithIf", "ShiftInwards"};
    return names.at(static_cast<size_t>(tail));
}

}  // namespace halidegym
