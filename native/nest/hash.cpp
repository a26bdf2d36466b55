#include "nest/hash.h"

namespace halidegym {

namespace {

uint64_t visit(uint64_t hash, const Level &level, int depth) {
    if (depth < 0) {
        return hash;
    }
    for (const int node : level.store_at) {
        hash = mix(hash, node);
    }
    hash = mix(hash, -1);
    for (const LevelRef &child : level.children) {
        hash = mix(hash, child->stage);
    }
    hash = mix(hash, -1);
    for (const auto &[node, count] : level.inlined) {
        hash = mix(hash, node);
    }
    hash = mix(hash, -1);
    if (depth > 0) {
        for (const LevelRef &child : level.children) {
            for (const int64_t size : child->size) {
                hash = mix(hash, depth == 1 ? (size > 1 ? 1 : 0) : size);
            }
        }
        hash = mix(hash, level.vectorized_loop);
    }
    if (depth > 1) {
        for (const LevelRef &child : level.children) {
            hash = visit(hash, *child, depth - 2);
        }
    }
    return hash;
}

}  // namespace

uint64_t structural_hash(const Level &root, int num_decisions, int depth) {
    return visit(static_cast<uint64_t>(num_decisions), root, depth);
}

}  // namespace halidegym
