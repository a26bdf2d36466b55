#include "cost/distant_bounds.h"

#include <algorithm>
#include <cstdint>

#include "nest/hash.h"

namespace halidegym {

namespace {

constexpr size_t num_entries = 512;  // so many that nine in ten are found again

uint64_t hash_of(int stage, int node, std::span<const Span> loops) {
    uint64_t hash = mix(mix(0, stage), node);
    for (const Span &loop : loops) {
        hash = mix(mix(mix(hash, loop.min), loop.max), loop.constant_extent);
    }
    return hash;
}

}  // namespace

const Bound &DistantBounds::remembered(const Level &level, int node) {
    entries_.resize(num_entries);
    const Stage &stage = problem_.stages[static_cast<size_t>(level.stage)];
    const auto loops = level.regions->of(level.node).loops(stage.index);
    Entry &entry = entries_[hash_of(stage.id, node, loops) % num_entries];
    if (entry.stage != stage.id || entry.node != node || !std::ranges::equal(entry.loops, loops)) {
        entry.bound = level.regions->of(node);
        entry.stage = stage.id;
        entry.node = node;
        entry.loops.assign(loops.begin(), loops.end());
    }
    return *entry.bound;
}

}  // namespace halidegym
