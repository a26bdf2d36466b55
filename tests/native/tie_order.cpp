// Guards the order of equal elements (docs/specification/search-and-cost-model.md, section 2.9), on which equality with
// the Adams2019 plugin rests: the order of parallel options, and of states of equal cost in a beam. The orders written
// here are those of the GNU C++ library that the plugin was compiled against. They fail if our algorithms change, and
// do not depend on the library that this is compiled against.

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "example_problem.h"
#include "problem/tie_order.h"

using namespace halidegym;

namespace {

// Only keys are compared, so the numbers show where equal elements went.
struct Element {
    int key;
    int number;
    friend bool operator==(const Element &, const Element &) = default;
};

bool less(const Element &a, const Element &b) {
    return a.key < b.key;
}

std::vector<Element> numbered(const std::vector<int> &keys) {
    std::vector<Element> elements;
    for (const int key : keys) {
        elements.push_back({key, static_cast<int>(elements.size())});
    }
    return elements;
}

std::vector<int> numbers(const std::vector<Element> &elements) {
    std::vector<int> result;
    for (const Element &element : elements) {
        result.push_back(element.number);
    }
    return result;
}

std::vector<int> cyclic_keys(int count) {
    std::vector<int> keys;
    for (int i = 0; i < count; i++) {
        keys.push_back(7 * i % 4);
    }
    return keys;
}

std::vector<Element> sorted(std::vector<Element> elements) {
    tie_order::sort(std::span(elements), less);
    return elements;
}

// Everything that a heap of the first half gives when the second half is pushed, one after each pop.
std::vector<Element> queued(const std::vector<Element> &elements) {
    const auto half = static_cast<std::ptrdiff_t>(elements.size() / 2);
    std::vector<Element> heap(elements.begin(), elements.begin() + half);
    tie_order::make_heap(std::span(heap), less);
    std::vector<Element> popped;
    for (size_t next = heap.size(); !heap.empty(); next++) {
        tie_order::pop_heap(std::span(heap), less);
        popped.push_back(heap.back());
        heap.pop_back();
        if (next < elements.size()) {
            heap.push_back(elements[next]);
            tie_order::push_heap(std::span(heap), less);
        }
    }
    return popped;
}

void test_sort() {
    expect("a stable sort up to 16", numbers(sorted(numbered(cyclic_keys(16)))) ==
                                         std::vector<int>{0, 4, 8, 12, 3, 7, 11, 15, 2, 6, 10, 14, 1, 5, 9, 13});
    expect("no stable sort beyond",
           numbers(sorted(numbered(cyclic_keys(24)))) ==
               std::vector<int>{0, 20, 4, 16, 12, 8, 23, 19, 15, 11, 7, 3, 10, 14, 6, 18, 2, 22, 9, 13, 5, 17, 21, 1});
}

void test_heap() {
    expect("a queue",
           numbers(queued(numbered(cyclic_keys(24)))) ==
               std::vector<int>{5, 9, 1, 13, 6, 2, 17, 14, 18, 10, 21, 22, 15, 19, 23, 11, 7, 3, 0, 20, 16, 8, 12, 4});
}

#ifdef __GLIBCXX__

std::vector<Element> sorted_by_library(std::vector<Element> elements) {
    std::sort(elements.begin(), elements.end(), less);
    return elements;
}

std::vector<Element> queued_by_library(const std::vector<Element> &elements) {
    const auto half = static_cast<std::ptrdiff_t>(elements.size() / 2);
    std::vector<Element> heap(elements.begin(), elements.begin() + half);
    std::make_heap(heap.begin(), heap.end(), less);
    std::vector<Element> popped;
    for (size_t next = heap.size(); !heap.empty(); next++) {
        std::pop_heap(heap.begin(), heap.end(), less);
        popped.push_back(heap.back());
        heap.pop_back();
        if (next < elements.size()) {
            heap.push_back(elements[next]);
            std::push_heap(heap.begin(), heap.end(), less);
        }
    }
    return popped;
}

// Musser 1997: the medians of three divide this as badly as they can, so that sorting falls back on a heap.
std::vector<int> killer_of_medians(int half) {
    std::vector<int> keys;
    for (int i = 1; i <= half; i++) {
        keys.push_back(i % 2 == 1 ? i : half + i - 1);
    }
    for (int i = 1; i <= half; i++) {
        keys.push_back(2 * i);
    }
    return keys;
}

// The GNU C++ library itself is the reference where it is at hand.
void test_against_library() {
    std::mt19937 random(0);
    for (int round = 0; round < 2000; round++) {
        const auto below = [&](int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random); };
        const int distinct = 1 + below(20);
        std::vector<int> keys(static_cast<size_t>(below(round % 10 == 0 ? 2000 : 60)));
        std::generate(keys.begin(), keys.end(), [&] { return below(distinct); });
        const auto elements = numbered(keys);
        expect("sort", sorted(elements) == sorted_by_library(elements));
        expect("heap", queued(elements) == queued_by_library(elements));
    }
    for (const int half : {20, 100, 1000}) {
        auto keys = killer_of_medians(half);
        for (int &key : keys) {
            key /= 2;  // pairs of equal ones
        }
        expect("fallback", sorted(numbered(keys)) == sorted_by_library(numbered(keys)));
    }
}

#endif

}  // namespace

int main() {
    test_sort();
    test_heap();
#ifdef __GLIBCXX__
    test_against_library();
#endif
    return failures == 0 ? 0 : 1;
}
