#include <algorithm>
#include <cmath>
#include <limits>

#include "state/placements.h"

namespace halidegym {

// How often Funcs may be recomputed: the test of section 7.4, from trip counts and regions alone, before any child is
// built (section 17.5). Sections and quirks are those of docs/specification/search-space.md.

namespace {

double points_of_stage(const Bound &bound, int stage_index) {
    int64_t points = 1;
    for (const Span &loop : bound.loops(stage_index)) {
        points *= loop.extent();
    }
    return static_cast<double>(points);
}

// How often a Func is called where it is inlined in the body of a level that runs so many times, except inside one
// level.
int64_t inlined_calls(const Level &level, int node, int64_t instances, const Level *except) {
    int64_t calls = 0;
    for (const auto &[inlined, count] : level.inlined) {
        calls += inlined == node ? count * instances : 0;
    }
    for (const LevelRef &child : level.children) {
        if (child.get() != except && child->called.contains(node)) {
            calls += inlined_calls(*child, node, instances * child->size.product(), except);
        }
    }
    return calls;
}

}  // namespace

// The recompute test of section 7.4 for the Func itself, stored where `bound` describes it and that often.
bool Placements::is_within_limits(const Bound &bound, int64_t instances) const {
    for (int s = 0; s < func_->num_stages; s++) {
        const double points = points_of_stage(bound, s) * static_cast<double>(instances);
        if (points > space_->points_limit[static_cast<size_t>(func_->first_stage + s)]) {
            return false;
        }
    }
    return true;
}

// The same for storage in the body of a level.
bool Placements::is_allowed(int depth) {
    const Step &at = step(depth);
    return is_within_limits(at.level->regions->of(func_->id), at.instances);
}

// The largest product of trips, inner times outer, to which splitting the level may round its trips up before some Func
// stored or inlined inside it is computed too often (section 17.5).
double Placements::trips_limit(int depth) {
    auto &limit = step(depth).trips_limit;
    if (!limit) {
        limit = find_trips_limit(depth);
    }
    return *limit;
}

double Placements::find_trips_limit(int depth) {
    const Step &at = step(depth);
    double limit = std::numeric_limits<double>::infinity();
    std::vector<std::pair<int, int64_t>> inlined;  // inside, with the calls of the whole run
    // `unit` counts instances of a level's body per iteration of the split one, times the entries into that.
    const auto visit = [&](const auto &self, const Level &level, int64_t unit) -> void {
        for (const auto &[node, count] : level.inlined) {
            const auto known = std::ranges::find(inlined, node, &std::pair<int, int64_t>::first);
            auto &[_, calls] = known != inlined.end() ? *known : inlined.emplace_back(node, 0);
            calls += count * unit;
        }
        for (const int stored : level.store_at) {
            const Node &node = problem_->nodes[static_cast<size_t>(stored)];
            for (int s = 0; s < node.num_stages; s++) {
                const double points = points_of_stage(level.regions->of(stored), s) * static_cast<double>(unit);
                limit = std::min(limit,
                                 std::floor(space_->points_limit[static_cast<size_t>(node.first_stage + s)] / points));
            }
        }
        for (const LevelRef &child : level.children) {
            self(self, *child, unit * child->size.product());
        }
    };
    visit(visit, *at.level, at.instances / at.level->size.product());

    for (const auto &[node, calls] : inlined) {
        if (calls > 0) {
            const double allowed =
                space_->points_limit[static_cast<size_t>(problem_->nodes[static_cast<size_t>(node)].first_stage)] -
                static_cast<double>(inlined_calls(*root_, node, 1, at.level));
            limit = std::min(limit, std::floor(allowed / static_cast<double>(calls)));
        }
    }
    return limit;
}

}  // namespace halidegym
