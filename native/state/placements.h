#pragma once

#include <array>
#include <memory>
#include <optional>
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
    // `make` makes what the nests of several options share, so that they last no longer; if null, it lasts.
    // The nest must outlive it.
    Placements(const Space &space, const Level &root, const Node &func, NestMaker *make = nullptr);

    // `before`, and then all options in the reference's order: those in which no stage computes more points than
    // Space::points_limit allows (section 17.5).
    std::vector<Decision> enumerate(std::vector<Decision> before = {});

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

    // What an option asks of the Func, as the limits on redundant work know it without a nest of its own.
    struct Demand {
        const Bound *bound;  // each time
        int64_t times;       // that the body runs in which it is needed
    };
    struct Demands {
        Demand stored;  // where the Func is stored
        Demand inside;  // in the level inside of that which calls it: the inner half of a tiling, the level that a
                        // window slides in; the same again where there is none
    };
    // Given what the tuples of a tiling stand for.
    Demands demands(const Decision &decision, const Extents &outer, const Extents &inner);

    // The innermost level in which all calls of the Func lie, and how often its body runs.
    struct Body {
        const Level &level;
        int64_t instances;
    };
    Body body_with_all_calls();

    // What the fields of a decision stand for.
    const Level &level(int depth) { return *step(depth).level; }
    Extents outer_tile(const Decision &decision);
    Extents inner_tile(const Decision &decision);

private:
    // A set of storage dimensions, one bit each.
    using VectorDims = uint32_t;
    static_assert(max_loops <= 32);
    static bool contains(VectorDims dimensions, int dimension) { return (dimensions >> dimension) & 1; }

    // A tiling of a level between whose halves something may be placed.
    struct Tile {
        struct Rules {
            bool is_usable;        // within limits
            bool shrinks;          // the inner half needs less of the Func than the outer body
            VectorDims may_store;  // with which it may be stored between the halves and computed in the inner one
        };
        RegionsRef regions;          // of the outer level; null until asked for
        std::optional<Rules> rules;  // empty until asked for
    };

    // A level of the descent path.
    struct Step {
        const Level *level;
        int child = -1;                               // its position among the children of the previous level
        int64_t instances = 1;                        // how often its body runs: the product of all trips down to it
        std::unique_ptr<const LevelTilings> tilings;  // null until asked for
        std::vector<Tile> tiles;                      // of each tiling; empty unless all are listed
        std::optional<double> trips_limit;
        // Where candidates begin: of the level and its tilings, and of a sliding window into the next level.
        int64_t begin = 0;
        int64_t slide_begin = 0;
    };

    bool has_step(int depth);
    Step &step(int depth) {
        if (static_cast<size_t>(depth) >= path_.size()) {
            require_step(depth);
        }
        return path_[static_cast<size_t>(depth)];
    }
    void require_step(int depth);
    const LevelTilings &tilings_of(Step &step);
    Tile &tile(int depth, size_t index);
    const RegionsRef &tile_regions(int depth, size_t index, const Extents &outer);

    // Candidates that share the level and its tiling, for one vector dimension. In the order of their indices: at a
    // level ComputeAtLevel; at a tiling ComputeAtTile, StoreAtTile and each StoreAtTileSplit, the latter two only of
    // Funcs of a single stage; in a sliding window StoreAtLevel and each StoreAtLevelSplit.
    struct Block {
        enum class Kind { AtLevel, AtTile, Sliding } kind;
        int depth;
        size_t tile;    // its place among the tilings that may be used
        int64_t begin;  // index of its first candidate
        int64_t size;
    };
    // Storage dimensions, ascending.
    struct Dimensions {
        size_t size = 0;
        std::array<uint8_t, max_loops> values;

        void push_back(int dimension) { values[size++] = static_cast<uint8_t>(dimension); }
        const uint8_t *begin() const { return values.data(); }
        const uint8_t *end() const { return values.data() + size; }
    };
    // The blocks are those of the levels that are entered, in the order of the path, and then the sliding windows; with
    // each storage dimension that may be vectorized, each block has candidates of its own.
    struct Candidates {
        Dimensions vector_dimensions;
        int num_levels = 0;
        int64_t per_dimension = 0;
    };
    const Candidates &candidates();
    int64_t begin_of_tile(int depth, size_t tile);
    int64_t size_of_tile(const Extents &inner) const;
    // Candidates of a tiling besides splits of its inner half, and whether there are those, too.
    int64_t num_besides_splits() const { return func_->num_stages > 1 ? 1 : 2; }
    bool has_splits() const { return func_->num_stages == 1 && space_->options.subtiling; }
    Block level_block(int depth);
    Block tile_block_at(int depth, int64_t index);
    Block slide_block(int depth);
    Block block_at(int64_t index);
    std::optional<Block> block_of(const Decision &decision);
    Decision decision_at(const Block &block, int vector_dim, int64_t offset);
    static int64_t offset_of(const Decision &decision);
    std::vector<Block> open_blocks();
    void append_options(const Block &block, int vector_dim, std::vector<Decision> &out);
    void append_tile_options(const Block &block, int vector_dim, std::vector<Decision> &out);

    // The rules (placement_rules.cpp): what is a candidate, and which candidates are options.
    Dimensions vector_dimensions() const;
    bool is_entered(int depth);
    bool may_be_tiled(int depth);
    bool may_slide(int depth);
    bool is_open(const Block &block);
    bool is_option(const Block &block, const Decision &decision);
    Tile::Rules tile_rules(int depth, size_t index);
    Tile::Rules find_tile_rules(int depth, size_t index, const Extents &outer, const Extents &inner);
    bool may_compute_at(int depth, int vector_dim);
    bool may_compute_in_next(int depth, int vector_dim);
    VectorDims lost_vectors(const Bound &outside, const Bound &inside) const;

    // How often Funcs may be recomputed (placement_limits.cpp).
    bool is_allowed(int depth);
    bool is_within_limits(const Bound &bound, int64_t instances) const;
    double trips_limit(int depth);
    double find_trips_limit(int depth);

    // The nests (placement_build.cpp).
    LevelRef compute_inside(NestMaker &make, Draft level, int vector_dim) const;
    LevelRef compute_in_split(NestMaker &make, const Draft &level, const Level &parent, const Decision &decision) const;
    size_t place_of_tile(const Decision &decision);
    void add_calls(Level &level) const;
    LevelRef replace_to_root(NestMaker &make, int depth, LevelRef edited);

    const Space *space_;
    const Problem *problem_;
    const Node *func_;
    const Level *root_;
    NestMaker *make_;
    std::vector<Step, Recycling<Step>> path_;
    struct {
        int depth = -1;
        size_t index = 0;
        Tile tile;
    } last_tile_;                           // that was asked for on a level whose tilings are not listed
    std::optional<Candidates> candidates_;  // empty until asked for
};

}  // namespace halidegym
