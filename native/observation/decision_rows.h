#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "state/state.h"

namespace halidegym {

// Decisions of one state as rows of numbers, without a look at the children that they lead to.
//
// Columns, for L loops. Trip counts and products are log2(1 + n), so that 0 stands for what the kind does not have; of
// loops beyond L, the outermost ones, only the products tell:
//   0-8          kind, one-hot, in the order of Decision::Kind
//   9            depth of the level that the Func is placed in, 0: the root
//   10           1 + the storage dimension that is vectorized, 0: the kind places nothing
//   11+          L trip counts of that level, innermost loop first
//   11+L         L of the outer tile that the level is split into; for parallelizing, the tasks by dimension
//   11+2L        L of the outer tile of a second split
//   11+3L to +2  products of these three, all loops included: iterations of the level, tiles or tasks, tiles inside
//        +3      0 or 1: there is a second split
//        +4      iterations of the inner half of the first split, or of a task of the Func's pure stage
//        +5      log2(tasks / cores), of either sign; 0 where there are no tasks
//        +6      share of the cores that has no task in the last round of tasks, 0 to 1
// What the Func is needed for, as the limits on redundant work know it. Of a placement, in the body in which the Func
// is stored; of inlining, at each call:
//   18+3L to +3  extents of the region computed of it each time, of the first four storage dimensions; log2(1 + n)
//        +4      that of the dimension that is vectorized
//        +5      times that this happens, +6 points computed each time, +7 their bytes; log2(1 + n)
//        +8      log2(points in all / points of the region computed of it at the root): redundant work
// and of a placement, in the body inside: the inner half of the first split, or the level that a window slides in:
//        +9      points each time, log2(1 + n)
//        +10     log2(points in all / points at the root)
struct DecisionRows {
    static constexpr int num_kinds = Decision::num_kinds;
    static constexpr int num_scalars = 2;   // after the kinds
    static constexpr int num_sums = 7;      // after the trip counts
    static constexpr int num_demands = 11;  // after the sums
    static constexpr int columns_before_demands(int loops) { return num_kinds + num_scalars + 3 * loops + num_sums; }
    static constexpr int columns(int loops) { return columns_before_demands(loops) + num_demands; }

    DecisionRows() = default;
    DecisionRows(Expansion &expansion, std::span<const Decision> decisions, int loops) {
        describe(expansion, decisions, loops);
    }

    // Describes other decisions in the memory that it has.
    void describe(Expansion &expansion, std::span<const Decision> decisions, int loops);

    std::vector<float> rows;      // [decisions * columns(loops)]
    std::vector<int32_t> stages;  // [decisions], that the decision's level belongs to; -1: to the root, or no level
};

}  // namespace halidegym
