#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nest/recycled_memory.h"
#include "nest/reused.h"
#include "problem/problem.h"

namespace halidegym {

// The bound record of one Func at one loop level: the region required, the region computed, and the loops of each
// stage, for one representative iteration of the level (docs/specification/search-space.md, section 4.1). Immutable
// once published.
class Bound {
public:
    // Nothing required, computed or looped over yet.
    explicit Bound(const Node &node) { become(node); }
    Bound(const Bound &other) { *this = other; }
    Bound &operator=(const Bound &other) {
        give_room(*other.node_);
        volume_computed_ = other.volume_computed_;
        std::copy_n(other.spans_, node_->bound_size, spans_);
        return *this;
    }
    // As if made for this Func, in the memory that there is.
    void become(const Node &node) {
        give_room(node);
        std::fill_n(spans_, node.dimensions, Span::empty());
    }

    std::span<const Span> required() const { return {spans_, static_cast<size_t>(node_->dimensions)}; }
    std::span<const Span> computed() const {
        return {spans_ + node_->dimensions, static_cast<size_t>(node_->dimensions)};
    }
    // Loops of the stage with this index within the Func, innermost first.
    std::span<const Span> loops(int stage_index) const {
        const auto s = static_cast<size_t>(stage_index);
        const auto begin = node_->loops_offset[s];
        const auto end = s + 1 < node_->loops_offset.size() ? node_->loops_offset[s + 1] : node_->bound_size;
        return {spans_ + begin, static_cast<size_t>(end - begin)};
    }
    // All of it, laid out as the node says.
    std::span<const Span> spans() const { return {spans_, static_cast<size_t>(node_->bound_size)}; }
    std::span<Span> mutable_required() { return {spans_, static_cast<size_t>(node_->dimensions)}; }
    std::span<Span> mutable_loops(int stage_index) {
        const auto view = std::as_const(*this).loops(stage_index);
        return {spans_ + (view.data() - spans_), view.size()};
    }
    // Fills computed() and all loops() from required() (docs/specification/function-dag.md, section 6.2).
    void derive_from_required(const Problem &problem);

    // Product of the extents of the region computed; 1 for a zero-dimensional Func.
    int64_t volume_computed() const { return volume_computed_; }

private:
    // Records are made for every Func at every new level, so those of up to four dimensions allocate nothing.
    static constexpr int inline_capacity = 12;

    void give_room(const Node &node) {
        node_ = &node;
        if (node.bound_size <= inline_capacity) {
            spans_ = inline_.data();
        } else {
            spilled_.resize(static_cast<size_t>(node.bound_size));
            spans_ = spilled_.data();
        }
    }

    const Node *node_ = nullptr;
    Span *spans_ = nullptr;  // the first bound_size are used
    int64_t volume_computed_ = 0;
    std::array<Span, inline_capacity> inline_;
    std::vector<Span> spilled_;
};

// All bound records of one loop level. The record of the level's own Func is explicit; that of any other Func is a pure
// function of it and of the problem, computed when first asked for and then kept (docs/specification/search-space.md,
// section 4.2). Copies of a level share its Regions. Thread-safe, unless it is on a workbench: then it has one user.
class Regions {
public:
    // Of the root, which stands for one run of the whole pipeline.
    explicit Regions(const Problem &problem);
    // Of a level of `stage`, whose own record is `own` with its loops replaced.
    Regions(const Problem &problem, const Stage &stage, const Bound &own, std::span<const Span> loops);
    ~Regions();
    Regions(const Regions &) = delete;
    Regions &operator=(const Regions &) = delete;

    const Bound &of(int node) const {
        const Bound *known = this->known(node);
        return known != nullptr ? *known : derived(node);
    }
    // Null if nobody has asked for it yet.
    const Bound *known(int node) const { return place_of(node).load(std::memory_order_acquire); }

    // Becomes that of another level, of any problem, in the memory that it has, and from now on keeps what it computes
    // in `records`. Nobody else may refer to it.
    void reuse(const Problem &problem, const Stage &stage, const Bound &own, std::span<const Span> loops,
               Reused<Bound> &records);

private:
    struct Derived : Recycled {
        explicit Derived(const Node &node) : bound(node) {}

        Derived *next = nullptr;
        Bound bound;
    };
    // No vector of atomics: that is cleared one by one.
    std::atomic_ref<const Bound *> place_of(int node) const {
        return std::atomic_ref(bounds_[static_cast<size_t>(node)]);
    }
    // Whether it lies between the level and what it reads.
    bool counts(const BoundRules::Consumer &consumer) const {
        return stage_ < 0 || consumer.stage == stage_ || node_bits::contains(upstream_, consumer.node);
    }
    const Bound &derived(int node) const;
    void derive_into(Bound &bound, int node) const;
    void set_own(const Stage &stage, const Bound &own, std::span<const Span> loops);

    const Problem *problem_;              // kept alive by the state
    int stage_;                           // -1 at the root
    std::span<const uint64_t> upstream_;  // node_bits, of the stage
    Bound own_;                           // meaningless at the root
    // By node id, null until asked for; or more.
    mutable std::vector<const Bound *, Recycling<const Bound *>> bounds_;
    mutable std::atomic<Derived *> derived_ = nullptr;  // a list
    Reused<Bound> *records_ = nullptr;                  // of a workbench; null: each record has memory of its own
};

}  // namespace halidegym
