#pragma once

#include <vector>

#include "nest/level.h"
#include "nest/nest_maker.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

// One way to cut the loops of a root-level Func into parallel tasks.
struct ParallelOption {
    Extents tasks;   // per dimension of the trip counts of its pure stage
    double wastage;  // how unevenly the tasks divide among the cores: 1 is even
};

// The options for the Func in the reference's order: by wastage, ties as tie_order::sort leaves them
// (section 11). Empty if the Func has nothing to parallelize.
std::vector<ParallelOption> parallel_options(const Problem &problem, const Level &root, const Node &func);

// The nest with every stage of the root-level Func cut by the option. Without subtiling the reference ignores the
// option's tasks and takes each stage's own (section 11).
LevelRef apply_parallel(NestMaker &make, const Problem &problem, const Level &root, const Node &func,
                        const ParallelOption &option, bool subtiling);

}  // namespace halidegym
