#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nest/level.h"
#include "nest/nest_maker.h"
#include "state/decision.h"
#include "state/space.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

// Where one Func may be computed in a nest: the options of section 10, known without building any nest
// (section 17), and built one at a time. Every option lies on the descent path: the root, then the only caller of the
// Func in it, the only caller in that, and so on.
//
// There is one list of candidates, in blocks that share all but their last choice, and one test of a candidate. To
// enumerate is to test them all, to draw is to test one at an index, and a decision of another state is an option if it
// is listed and passes.
//
// A working object for one state; it keeps what its options share.
class Placements {
public:
    Placements(const Space &space, LevelRef root, const Node &func);

    // All options in the reference's order: those in which no stage computes more points than Space::points_limit
    // allows (section 17.5).
    std::vector<Decision> enumerate();

    // To draw an option without listing them (section 17.4): the one at an index below `num_candidates`, empty if that
    // candidate is none. Each option has one index.
    int64_t num_candidates();
    std::optional<Decision> option(int64_t index);
    // Whether a decision, say of another state, is an option here.
    bool has_option(const Decision &decision);
    // Whether there are so many options at the root, which are the cheapest to test.
    bool has_obvious_choice(int64_t at_least);

    // The nest that an option leads to.
    LevelRef build(NestMaker &make, const Decision &decision);

    // What the fields of a decision stand for.
    const Level &level(int depth) { return *step(depth).level; }
    const Extents &outer_tile(const Decision &decision);
    Extents inner_tile(const Decision &decision);

private:
    // A tiling of a level between whose halves something may be placed.
    struct Tile {
        bool is_usable;  // within limits
        bool shrinks;    // the inner half needs less of the Func than the outer body
    };

    // A level of the descent path.
    struct Step {
        LevelRef level;
        int child = -1;                // its position among the children of the previous level
        int64_t instances = 1;         // how often its body runs: the product of all trips from the root down to it
        std::vector<Extents> tilings;  // of its trip counts; empty until asked for
        // Of each tiling; empty until asked for.
        std::vector<RegionsRef> tile_regions;  // of the outer level
        std::vector<std::optional<Tile>> tiles;
        std::optional<double> trips_limit;
    };

    bool has_step(int depth);
    Step &step(int depth) {
        if (static_cast<size_t>(depth) >= path_.size()) {
            require_step(depth);
        }
        return path_[static_cast<size_t>(depth)];
    }
    void require_step(int depth);
    std::span<const Extents> tilings_of(Step &step);
    const RegionsRef &tile_regions(int depth, size_t tile);

    // Candidates that share the level and its tiling, for one vector dimension. In the order of their indices: at a
    // level ComputeAtLevel; at a tiling ComputeAtTile, StoreAtTile and each StoreAtTileSplit, the latter two only of
    // Funcs of a single stage; in a sliding window StoreAtLevel and each StoreAtLevelSplit.
    struct Block {
        enum class Kind { AtLevel, AtTile, Sliding } kind;
        int depth;
        size_t tile;
        int64_t begin;  // index of its first candidate
        int64_t size;
    };
    // The blocks, and the storage dimensions that may be vectorized; each block is a candidate with each of them.
    struct Candidates {
        std::vector<int> vector_dimensions;
        std::vector<Block> blocks;
        int64_t per_dimension = 0;
    };
    const Candidates &candidates();
    static Decision decision_at(const Block &block, int vector_dim, int64_t offset);
    static Block::Kind kind_of_block(const Decision &decision);
    static int64_t offset_of(const Decision &decision);
    void append_options(const Block &block, int vector_dim, std::vector<Decision> &out);

    // The rules (placement_rules.cpp): what is a candidate, and which candidates are options.
    std::vector<int> vector_dimensions() const;
    bool is_entered(int depth);
    bool may_be_tiled(int depth);
    bool may_slide(int depth);
    bool keeps_cores_busy(const Level &level, const Extents &tile) const;
    bool is_open(const Block &block);
    bool is_option(const Decision &decision);
    Tile tile(int depth, size_t index);
    Tile make_tile(int depth, size_t index);
    bool may_compute_at(int depth, int vector_dim);
    bool may_store_at(int depth, size_t tile, int vector_dim);
    bool may_compute_in_next(int depth, int vector_dim);
    bool lost_vector(const Bound &outside, const Bound &inside, int vector_dim) const;

    // How often Funcs may be recomputed (placement_limits.cpp).
    bool is_allowed(int depth);
    bool is_within_limits(const Bound &bound, int64_t instances) const;
    double trips_limit(int depth);
    double find_trips_limit(int depth);

    // The nests (placement_build.cpp).
    LevelRef compute_inside(NestMaker &make, Draft level, int vector_dim) const;
    LevelRef compute_in_split(NestMaker &make, const Level &level, const Level &parent, const Decision &decision) const;
    LevelRef replace_to_root(NestMaker &make, int depth, LevelRef edited);

    const Space *space_;
    const Problem *problem_;
    const Node *func_;
    std::vector<Step> path_;
    NodeSet called_by_func_;
    std::optional<Candidates> candidates_;  // empty until asked for
};

}  // namespace halidegym
