#include "state/parallel_options.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nest/edits.h"
#include "nest/tilings.h"
#include "problem/tie_order.h"

namespace halidegym {

namespace {

// A decision for one that wastes more is taken only if there is no other.
constexpr double max_wastage = 1.2;

int64_t total_tasks(const Stage &stage, const Extents &tasks) {
    int64_t total = 1;
    for (const Loop &loop : stage.loops) {
        if (!loop.rvar) {
            total *= tasks[loop.pure_dim];
        }
    }
    return total;
}

// Task counts of one stage in loop order, from the outermost loop inwards until the cores are busy.
Extents own_tasks(const Problem &problem, const Level &block) {
    const Stage &stage = problem.stages[static_cast<size_t>(block.stage)];
    const int64_t parallelism = problem.parallelism;
    Extents tasks(block.size.size(), 1);
    int64_t total = 1;
    for (int i = block.size.size() - 1; i >= 0; i--) {
        int64_t count = block.size[i];
        if (!stage.loops[static_cast<size_t>(i)].pure || total >= parallelism) {
            count = 1;
        }
        while (count > 1 && total * count > 8 * parallelism) {
            count /= 2;
        }
        total *= count;
        tasks[i] = count;
    }
    return tasks;
}

}  // namespace

const Extents *parallelizable_trips(const Problem &problem, const Level &root, const Node &func) {
    if (problem.parallelism <= 1 || func.dimensions == 0 || !std::ranges::binary_search(root.store_at, func.id)) {
        return nullptr;
    }
    // What was computed last is likely to be asked about.
    for (auto child = root.children.rbegin(); child != root.children.rend(); child++) {
        if ((*child)->stage == func.first_stage) {
            return &(*child)->size;
        }
    }
    return nullptr;
}

ParallelOptions parallel_options(const Problem &problem, const Node &func, const Extents &size) {
    auto tile_sizes = tilings(size);
    tile_sizes.push_back(Extents(size.size(), 1));  // "entire": every iteration a task

    ParallelOptions options;
    for (size_t t = 0; t < tile_sizes.size(); t++) {
        const bool entire = t + 1 == tile_sizes.size();
        ParallelOption option{inner_trips(size, tile_sizes[t]), 1};
        int64_t fewest = std::numeric_limits<int64_t>::max();
        int64_t most = 0;
        for (int s = 0; s < func.num_stages; s++) {
            const int64_t total = total_tasks(problem.stage(func, s), option.tasks);
            fewest = std::min(fewest, total);
            most = std::max(most, total);
            const double tasks_per_core = static_cast<double>(total) / problem.parallelism;
            option.wastage = std::max(option.wastage, std::ceil(tasks_per_core) / tasks_per_core);
        }
        if ((entire || fewest >= problem.parallelism) && most <= 16 * static_cast<int64_t>(problem.parallelism)) {
            options.all.push_back(option);
        }
    }
    tie_order::sort(std::span(options.all),
                    [](const ParallelOption &a, const ParallelOption &b) { return a.wastage < b.wastage; });
    while (options.num_even < options.all.size() &&
           (options.num_even == 0 || options.all[options.num_even].wastage <= max_wastage)) {
        options.num_even++;
    }
    return options;
}

LevelRef apply_parallel(NestMaker &make, const Problem &problem, const Level &root, const Node &func,
                        const ParallelOption &option, bool subtiling) {
    const Draft edited = make.copy(root);
    for (LevelRef &child : edited->children) {
        if (child->node == func.id) {
            child = parallelize(make, problem, *child, root, subtiling ? option.tasks : own_tasks(problem, *child),
                                subtiling);
        }
    }
    return edited;
}

}  // namespace halidegym
