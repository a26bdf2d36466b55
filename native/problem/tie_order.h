#pragma once

#include <bit>
#include <cstddef>
#include <span>
#include <utility>

// Sorting and heaps that leave equal elements where the reference leaves them. It takes both from the GNU C++ library,
// ties are the rule in what it sorts, and the standard says nothing about them: so these are that library's algorithms
// (docs/specification/search-and-cost-model.md, section 2.9), whatever library this is compiled against.
//
// `less` compares two elements. A heap has an element first that is less than no other.
namespace halidegym::tie_order {

// Moves `value` up from the hole, at most to `top`.
template <typename T, typename Less>
void sift_up(std::span<T> heap, size_t hole, size_t top, T value, Less &less) {
    while (hole > top && less(heap[(hole - 1) / 2], value)) {
        heap[hole] = std::move(heap[(hole - 1) / 2]);
        hole = (hole - 1) / 2;
    }
    heap[hole] = std::move(value);
}

// Fills the hole at `top` from below, down to a leaf, and lets `value` rise from there. Of equal children, the second
// rises.
template <typename T, typename Less>
void adjust(std::span<T> heap, size_t top, T value, Less &less) {
    const size_t size = heap.size();
    size_t hole = top;
    while (2 * hole + 2 < size) {
        const size_t second = 2 * hole + 2;
        const size_t child = less(heap[second], heap[second - 1]) ? second - 1 : second;
        heap[hole] = std::move(heap[child]);
        hole = child;
    }
    if (2 * hole + 2 == size) {
        heap[hole] = std::move(heap[size - 1]);
        hole = size - 1;
    }
    sift_up(heap, hole, top, std::move(value), less);
}

template <typename T, typename Less>
void make_heap(std::span<T> elements, Less less) {
    for (size_t i = elements.size() / 2; i-- > 0;) {
        adjust(elements, i, T(std::move(elements[i])), less);
    }
}

// All but the last element are a heap; makes one of all.
template <typename T, typename Less>
void push_heap(std::span<T> heap, Less less) {
    const size_t last = heap.size() - 1;
    sift_up(heap, last, 0, T(std::move(heap[last])), less);
}

// Moves the first element of a heap to the end; all but the last are a heap afterwards.
template <typename T, typename Less>
void pop_heap(std::span<T> heap, Less less) {
    if (heap.size() > 1) {
        T value = std::move(heap.back());
        heap.back() = std::move(heap.front());
        adjust(heap.first(heap.size() - 1), 0, std::move(value), less);
    }
}

inline constexpr size_t insertion_size = 16;  // up to which elements are left to insertion

// Inserts the element at `end` into the sorted ones before it, one of which is known not to be greater.
template <typename T, typename Less>
void insert_unguarded(std::span<T> elements, size_t end, Less &less) {
    T value = std::move(elements[end]);
    for (; less(value, elements[end - 1]); end--) {
        elements[end] = std::move(elements[end - 1]);
    }
    elements[end] = std::move(value);
}

template <typename T, typename Less>
void insertion_sort(std::span<T> elements, Less &less) {
    for (size_t i = 1; i < elements.size(); i++) {
        if (i < insertion_size && less(elements[i], elements[0])) {
            T value = std::move(elements[i]);
            for (size_t j = i; j > 0; j--) {
                elements[j] = std::move(elements[j - 1]);
            }
            elements[0] = std::move(value);
        } else {
            insert_unguarded(elements, i, less);
        }
    }
}

// Puts the median of the second, the middle and the last element first, and parts the others by it: returns where those
// begin that are not less.
template <typename T, typename Less>
size_t partition(std::span<T> elements, Less &less) {
    const size_t a = 1;
    const size_t b = elements.size() / 2;
    const size_t c = elements.size() - 1;
    const auto median = [&] {
        if (less(elements[a], elements[b])) {
            return less(elements[b], elements[c]) ? b : less(elements[a], elements[c]) ? c : a;
        }
        return less(elements[a], elements[c]) ? a : less(elements[b], elements[c]) ? c : b;
    };
    std::swap(elements[0], elements[median()]);
    for (size_t low = 1, high = elements.size();; low++) {
        while (less(elements[low], elements[0])) {
            low++;
        }
        do {
            high--;
        } while (less(elements[0], elements[high]));
        if (low >= high) {
            return low;
        }
        std::swap(elements[low], elements[high]);
    }
}

// Sorts all but what is left to insertion, by quicksort; by a heap, where that divides badly too often.
template <typename T, typename Less>
void introsort(std::span<T> elements, int depth, Less &less) {
    while (elements.size() > insertion_size) {
        if (depth-- == 0) {
            make_heap(elements, less);
            for (; elements.size() > 1; elements = elements.first(elements.size() - 1)) {
                pop_heap(elements, less);
            }
            return;
        }
        const size_t cut = partition(elements, less);
        introsort(elements.subspan(cut), depth, less);
        elements = elements.first(cut);
    }
}

template <typename T, typename Less>
void sort(std::span<T> elements, Less less) {
    introsort(elements, 2 * (static_cast<int>(std::bit_width(elements.size())) - 1), less);
    insertion_sort(elements, less);
}

}  // namespace halidegym::tie_order
