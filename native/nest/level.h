#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nest/recycled_memory.h"
#include "nest/regions.h"
#include "problem/problem.h"

namespace halidegym {

// A tuple with one entry per loop of a stage, innermost first.
class Extents {
public:
    Extents() = default;
    Extents(int size, int64_t value) : size_(size) { values_.fill(value); }
    Extents(const Extents &other) { *this = other; }
    Extents &operator=(const Extents &other) {
        size_ = other.size_;
        std::memcpy(values_.data(), other.values_.data(), usual_size * sizeof(int64_t));
        if (static_cast<size_t>(size_) > usual_size) {
            std::copy(other.begin() + usual_size, other.end(), values_.begin() + usual_size);
        }
        return *this;
    }
    Extents(std::initializer_list<int64_t> values) {
        for (const int64_t value : values) {
            push_back(value);
        }
    }
    int size() const { return size_; }
    bool empty() const { return size_ == 0; }
    int64_t operator[](int i) const { return values_[static_cast<size_t>(i)]; }
    int64_t &operator[](int i) { return values_[static_cast<size_t>(i)]; }
    void push_back(int64_t value) { values_[static_cast<size_t>(size_++)] = value; }
    const int64_t *begin() const { return values_.data(); }
    const int64_t *end() const { return values_.data() + size_; }
    int64_t product() const {
        int64_t result = 1;
        for (const int64_t value : *this) {
            result *= value;
        }
        return result;
    }
    friend bool operator==(const Extents &a, const Extents &b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    static constexpr size_t usual_size = 4;  // copied in one go, and by no call, as std::copy_n does

    int size_ = 0;
    std::array<int64_t, max_loops> values_;  // meaningful up to size_
};

// Nodes of a problem, one bit each.
class NodeSet {
public:
    NodeSet() = default;
    NodeSet(const NodeSet &other) { *this = other; }
    NodeSet &operator=(const NodeSet &other) {
        first_ = other.first_;
        if (!more_.empty() || !other.more_.empty()) {
            more_ = other.more_;
        }
        return *this;
    }
    bool contains(int node) const {
        const auto word = static_cast<size_t>(node) / 64;
        return word < first_.size()
                   ? (first_[word] >> (node % 64)) & 1
                   : word - first_.size() < more_.size() && (more_[word - first_.size()] >> (node % 64)) & 1;
    }
    // Those of node_bits.
    void add_words(std::span<const uint64_t> words) {
        for (size_t i = 0; i < words.size() && i < first_.size(); i++) {
            first_[i] |= words[i];
        }
        for (size_t i = first_.size(); i < words.size(); i++) {
            more_.resize(std::max(more_.size(), i + 1 - first_.size()));
            more_[i - first_.size()] |= words[i];
        }
    }

private:
    std::array<uint64_t, 2> first_{};  // most problems need no more
    std::vector<uint64_t> more_;
};

struct Level;
using LevelRef = std::shared_ptr<const Level>;
using RegionsRef = std::shared_ptr<const Regions>;

// What a level is, without what it refers to.
struct LevelShape {
    int stage = -1;  // stage id, -1 at the root
    int node = -1;   // the Func it belongs to, -1 at the root
    Extents size;    // trip counts of this level, one per loop of the stage, innermost first
    bool innermost = false;
    bool tileable = false;
    bool parallel = false;
    int vector_dim = -1;       // pure argument that is vectorized and stored innermost
    int vectorized_loop = -1;  // the loop of this stage over that argument, -1 if none
    NodeSet called;            // Funcs that its body calls, directly or through Funcs inlined there
};

// One tiling level of one stage of one Func, or the root (docs/specification/search-space.md, section 3). Immutable
// once published and shared between states; an edit copies the path from the root to the level it changes.
struct Level : LevelShape {
    // (node, calls per innermost iteration)
    using InlinedCalls = std::pair<int, int64_t>;

    std::vector<LevelRef, Recycling<LevelRef>> children;
    std::vector<InlinedCalls, Recycling<InlinedCalls>> inlined;  // ascending; leaves only
    std::vector<int, Recycling<int>> store_at;                   // nodes stored in the body, ascending
    RegionsRef regions;                                          // B(this level, ·)

    bool is_root() const { return stage < 0; }
};

}  // namespace halidegym
