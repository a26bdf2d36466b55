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

// The options of one Func in the reference's order: by wastage, ties as tie_order::sort leaves them (section 11).
struct ParallelOptions {
    std::vector<ParallelOption> all;
    size_t num_even = 0;  // the first ones, which are decisions if none is rejected

    size_t spilled_bytes() const { return all.size() * sizeof(ParallelOption); }
};

// If the Func's pure stage has these trip counts at the root; all of its stages are there then.
ParallelOptions parallel_options(const Problem &problem, const Node &func, const Extents &size);

// The trip counts of the Func's pure stage at the root; null if it has nothing to parallelize.
const Extents *parallelizable_trips(const Problem &problem, const Level &root, const Node &func);

// The nest with every stage of the root-level Func cut by the option. Without subtiling the reference ignores the
// option's tasks and takes each stage's own (section 11).
LevelRef apply_parallel(NestMaker &make, const Problem &problem, const Level &root, const Node &func,
                        const ParallelOption &option, bool subtiling);

}  // namespace halidegym
