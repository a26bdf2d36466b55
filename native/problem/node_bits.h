#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Sets of the nodes of a problem: one bit each, 64 to a word, so that many sets can lie in one array.
namespace halidegym::node_bits {

constexpr size_t num_words(size_t num_nodes) {
    return (num_nodes + 63) / 64;
}

inline bool contains(std::span<const uint64_t> set, int node) {
    return (set[static_cast<size_t>(node) / 64] >> (node % 64)) & 1;
}

inline void insert(std::span<uint64_t> set, int node) {
    set[static_cast<size_t>(node) / 64] |= uint64_t{1} << (node % 64);
}

inline void unite(std::span<uint64_t> set, std::span<const uint64_t> other) {
    for (size_t i = 0; i < set.size(); i++) {
        set[i] |= other[i];
    }
}

}  // namespace halidegym::node_bits
