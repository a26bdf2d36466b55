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

// How often the Funcs inlined in a nest are called per iteration of one level, by whether they are called inside it.
struct InlinedCalls {
    std::vector<int64_t> outside;  // [nodes]
    std::vector<int64_t> inside;   // [nodes]
};

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
    const int64_t entries = at.instances / at.level->size.product();
    InlinedCalls calls{std::vector<int64_t>(problem_->nodes.size()), std::vector<int64_t>(problem_->nodes.size())};
    double limit = std::numeric_limits<double>::infinity();

    const auto visit = [&](const auto &self, const Level &level, int64_t instances, bool inside, int64_t unit) -> void {
        inside = inside || &level == at.level.get();
        for (const auto &[node, count] : level.inlined) {
            (inside ? calls.inside : calls.outside)[static_cast<size_t>(node)] += count * (inside ? unit : instances);
        }
        for (const int stored : level.store_at) {
            const Node &node = problem_->nodes[static_cast<size_t>(stored)];
            for (int s = 0; inside && s < node.num_stages; s++) {
                const double points = points_of_stage(level.regions->of(stored), s) * static_cast<double>(unit);
                limit = std::min(limit,
                                 std::floor(space_->points_limit[static_cast<size_t>(node.first_stage + s)] / points));
            }
        }
        for (const LevelRef &child : level.children) {
            // Inside the level, `unit` counts instances per iteration of the level, times the entries into it.
            const int64_t trips = child->size.product();
            const bool is_level = child.get() == at.level.get();
            self(self, *child, instances * trips, inside, is_level ? entries : unit * trips);
        }
    };
    visit(visit, *path_.front().level, 1, false, 1);

    for (size_t n = 0; n < calls.inside.size(); n++) {
        if (calls.inside[n] > 0) {
            const double allowed = space_->points_limit[static_cast<size_t>(problem_->nodes[n].first_stage)] -
                                   static_cast<double>(calls.outside[n]);
            limit = std::min(limit, std::floor(allowed / static_cast<double>(calls.inside[n])));
        }
    }
    return limit;
}

}  // namespace halidegym
