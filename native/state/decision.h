#pragma once

#include <cstdint>

namespace halidegym {

// One stage decision, small enough to keep by the million: with the state it belongs to it identifies one child
// (docs/specification/search-space.md, sections 10 and 17.1).
struct Decision {
    enum class Kind : uint8_t {
        Pass,               // the nest stays as it is: inputs, and Funcs that cannot be parallelized
        Inline,             // into every caller
        ComputeAtLevel,     // stored and computed in the body of a level
        ComputeAtTile,      // the level is split; stored and computed between the two halves
        StoreAtTile,        // the level is split; stored between the halves, computed in the inner one
        StoreAtTileSplit,   // as StoreAtTile, but the inner half is split once more and the Func computed between
        StoreAtLevel,       // stored in a level, computed in the next one inside: a sliding window
        StoreAtLevelSplit,  // as StoreAtLevel, but that next level is split and the Func computed between the halves
        Parallelize,        // the Func's loops at the root become parallel tasks
    };
    static constexpr int num_kinds = static_cast<int>(Kind::Parallelize) + 1;

    Kind kind = Kind::Pass;
    uint8_t vector_dim = 0;   // placements: the storage dimension to vectorize
    uint16_t depth = 0;       // placements: the level, counted from the root along the Func's single callers
    uint32_t tile = 0;        // index into the tilings of that level, or into the parallel options
    uint32_t inner_tile = 0;  // ...Split: index into the whole-loop tilings of the level split last

    // Whether it places a Func at a level.
    bool is_placement() const { return kind != Kind::Pass && kind != Kind::Inline && kind != Kind::Parallelize; }

    friend bool operator==(const Decision &, const Decision &) = default;
};

}  // namespace halidegym
