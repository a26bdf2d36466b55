#pragma once

#include <cstdint>
#include <vector>

#include "state/space.h"

namespace halidegym {

inline constexpr int num_stage_features = 24;
inline constexpr int num_edge_features = 8;

// What stays the same for all states of a problem, row by row: of its stages in their order; of its edges, and then,
// for each update, of the edge from the stage before it.
//
// Columns of a stage. The first fourteen are log2(1 + x):
//   0-6    extents of its loops in one run of the pipeline, the first seven, innermost first; 0 where there is none
//   7      their product, of all loops: iterations in all
//   8      bytes of a point of its Func, 9 points of the region computed of its Func
//   10     lanes of a vector
//   11     edges to consumers of its Func, 12 edges from producers of the stage
//   13     cores
// The others as they are:
//   14-16  its loops, the dimensions of its Func, its loops over reduction variables
//   17-22  0 or 1: of an input, of an output, pointwise, of a boundary condition, an update, reads an image
//   23     place of its Func among the nodes, from 0 for the outputs to almost 1
//
// Columns of an edge, all 0 but the last for one that joins two stages of a Func:
//   0      log2(1 + calls) of the producer in the consumer's definition
//   1      log2(1 + points) that an iteration reads, over the constant and the affine dimensions of the producer:
//          constant ones have constant ends, affine ones move with one loop, both ends with the same stride
//   2      sum of log2(stride) over the affine dimensions, at most 64
//   3      the other dimensions, 4 the constant ones
//   5      log2(1 + n) of n different ways in which its loads move with the loops (load Jacobians)
//   6      1: it is a load, 7 1: it joins two stages of a Func
struct ProblemRows {
    explicit ProblemRows(const Space &space);

    int num_stages;
    std::vector<float> algorithm_features;  // [stages * 280], log(1 + count), in the cost model's order
    std::vector<float> stage_features;      // [stages * num_stage_features]
    std::vector<int32_t> edges;             // [edges * 2], producer stage and consumer stage
    std::vector<float> edge_features;       // [edges * num_edge_features]
};

// How many edges `ProblemRows` has of it.
int num_edge_rows(const Problem &problem);

}  // namespace halidegym
