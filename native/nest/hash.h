#pragma once

#include <cstdint>

#include "nest/level.h"

namespace halidegym {

// The 64-bit combiner of the reference. Its collisions are systematic and steer the coarse-to-fine search, so it is
// part of the contract (docs/specification/search-space.md, section 6).
constexpr uint64_t mix(uint64_t hash, int64_t value) {
    return hash ^ (static_cast<uint64_t>(value) + 0x9e3779b9 + (hash << 6) + (hash >> 2));
}

// Structural hash of a nest after `num_decisions` decisions, down to the given depth.
uint64_t structural_hash(const Level &root, int num_decisions, int depth);

}  // namespace halidegym
