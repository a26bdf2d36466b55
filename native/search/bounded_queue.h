#pragma once

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace halidegym {

// A priority queue that holds at most `capacity` elements and drops the worst when it is full. A min-max heap (Atkinson
// et al. 1986): on even levels of the binary tree a node comes before all its descendants, on odd levels after them, so
// the best is the root and the worst is one of its children.
//
// `Before` is a strict weak order: before(a, b) if a has priority over b.
template <typename T, typename Before>
class BoundedQueue {
public:
    explicit BoundedQueue(size_t capacity, Before before = {}) : capacity_(capacity), before_(std::move(before)) {}

    bool empty() const { return heap_.empty(); }
    size_t size() const { return heap_.size(); }
    const T &best() const { return heap_.front(); }
    const T &worst() const { return heap_[worst_index()]; }

    void push(T value) {
        if (heap_.size() == capacity_) {
            if (capacity_ == 0 || !before_(value, worst())) {
                return;
            }
            remove(worst_index());
        }
        heap_.push_back(std::move(value));
        bubble_up(heap_.size() - 1);
    }

    T pop() { return remove(0); }

    // Moves all elements of another queue into this one.
    void absorb(BoundedQueue other) {
        if (other.size() > size()) {
            std::swap(heap_, other.heap_);
        }
        for (T &value : other.heap_) {
            push(std::move(value));
        }
    }

private:
    static size_t parent(size_t i) { return (i - 1) / 2; }
    static bool on_best_level(size_t i) { return std::bit_width(i + 1) % 2 == 1; }

    // Whether the element at a belongs above the one at b, on the levels that are best above or worst above.
    bool above(bool best_level, size_t a, size_t b) const {
        return best_level ? before_(heap_[a], heap_[b]) : before_(heap_[b], heap_[a]);
    }

    size_t worst_index() const {
        if (heap_.size() < 3) {
            return heap_.size() - 1;
        }
        return before_(heap_[1], heap_[2]) ? 2 : 1;
    }

    T remove(size_t i) {
        std::swap(heap_[i], heap_.back());
        T removed = std::move(heap_.back());
        heap_.pop_back();
        if (i < heap_.size()) {
            trickle_down(i);
        }
        return removed;
    }

    void bubble_up(size_t i) {
        if (i == 0) {
            return;
        }
        bool level = on_best_level(i);
        if (above(!level, i, parent(i))) {
            std::swap(heap_[i], heap_[parent(i)]);
            i = parent(i);
            level = !level;
        }
        while (i > 2 && above(level, i, parent(parent(i)))) {
            std::swap(heap_[i], heap_[parent(parent(i))]);
            i = parent(parent(i));
        }
    }

    void trickle_down(size_t i) {
        const bool level = on_best_level(i);
        while (2 * i + 1 < heap_.size()) {
            size_t next = 2 * i + 1;
            for (const size_t descendant : {2 * i + 2, 4 * i + 3, 4 * i + 4, 4 * i + 5, 4 * i + 6}) {
                if (descendant < heap_.size() && above(level, descendant, next)) {
                    next = descendant;
                }
            }
            if (!above(level, next, i)) {
                return;
            }
            std::swap(heap_[next], heap_[i]);
            if (next <= 2 * i + 2) {
                return;
            }
            if (above(level, parent(next), next)) {
                std::swap(heap_[next], heap_[parent(next)]);
            }
            i = next;
        }
    }

    size_t capacity_;
    Before before_;
    std::vector<T> heap_;
};

}  // namespace halidegym
