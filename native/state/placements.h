#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nest/level.h"
#include "state/decision.h"
#include "state/space.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

// Where one Func may be computed in a nest: the options of section 10, enumerated without building any nest
// (section 17), and built one at a time. Every option lies on the descent path: the root, then the only caller of the
// Func in it, the only caller in that, and so on.
//
// A working object for one state; it keeps what its options share.
class Placements {
public:
    Placements(const Space &space, LevelRef root, const Node &func);

    // All options in the reference's order. With `within_limits`, just those in which no stage computes more points
    // than Space::points_limit allows (section 17.5).
    std::vector<Decision> enumerate(bool within_limits);

    // The accepted options again, among others, to draw one without listing them (section 17.4): the option at an index
    // below `num_candidates`, empty if there is none that is accepted. Each accepted option has one index.
    int64_t num_candidates();
    std::optional<Decision> candidate(int64_t index);
    // Whether an option, say of another state, is an accepted one here.
    bool accepts(const Decision &decision);
    // Whether so many options are accepted of those at the root, which are the cheapest to test.
    bool has_obvious_choice(int64_t at_least);

    // The nest that an option leads to.
    LevelRef build(const Decision &decision);

    // What the fields of a decision stand for.
    const Level &level(int depth) { return *step(depth).level; }
    const Extents &outer_tile(const Decision &decision);
    Extents inner_tile(const Decision &decision);

private:
    struct Step {
        LevelRef level;
        int child = -1;                // its position among the children of the previous level
        int64_t instances = 1;         // how often its body runs: the product of all trips from the root down to it
        std::vector<Extents> tilings;  // of its trip counts; empty until asked for
        std::vector<std::shared_ptr<const Regions>>
            tile_regions;  // of the outer level of each tiling, null until asked for
        std::optional<double> trips_limit;
    };

    bool has_step(int depth);
    Step &step(int depth);
    bool is_entered(int depth);
    std::span<const Extents> tilings_of(Step &step);
    const Regions &tile_regions(int depth, size_t tile);

    std::vector<int> vector_dimensions();
    bool keeps_cores_busy(const Level &level, const Extents &tile) const;
    bool is_within_limits(const Bound &bound, int64_t instances) const;
    double trips_limit(int depth);
    double find_trips_limit(int depth);
    bool is_allowed(int depth);
    bool lost_vector(const Bound &outside, const Bound &inside, int vector_dim) const;
    bool may_slide(int depth);

    struct Tile;
    bool may_be_tiled(int depth);
    std::optional<Tile> usable_tile(int depth, size_t index, bool within_limits);
    std::vector<Tile> usable_tiles(int depth, bool within_limits);
    bool may_compute_at(int depth, int vector_dim);
    bool may_store_at(const Tile &tile, int depth, int vector_dim);
    bool may_compute_in_next(int depth, int vector_dim);
    void emit_own(int depth, int vector_dim, std::span<const Tile> tiles, bool allowed, std::vector<Decision> &out);
    void emit_slide(int depth, int vector_dim, std::vector<Decision> &out);

    // Candidates that share everything but their last choice, in a row.
    struct Block {
        enum class Kind { Level, Tile, Slide } kind;
        int depth;
        size_t tile;
        int64_t end;  // index after its last candidate, for one vector dimension
    };
    void list_blocks();

    Level compute_inside(Level level, int vector_dim) const;
    LevelRef compute_in_split(const Level &level, const Level &parent, const Decision &decision) const;
    LevelRef replace_to_root(int depth, LevelRef edited);

    const Space *space_;
    const Problem *problem_;
    const Node *func_;
    std::vector<Step> path_;
    std::vector<int> candidate_dimensions_;
    std::vector<Block> blocks_;  // empty until asked for
};

}  // namespace halidegym
