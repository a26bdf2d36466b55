// Which of several equal elements comes first decides about parity with the plugin, and `std::sort` and the heap
// algorithms leave that to the library. This test guards libstdc++'s answers, which beams (push_heap, pop_heap,
// make_heap) and parallel options (sort) rely on: it holds them against the algorithms of section 2.9, written down
// below. With a library that breaks ties in another way it fails, and so would parity.
//
// Sections and quirks are those of docs/specification/search-and-cost-model.md.

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

namespace {

// Compared by cost alone; the name tells equal ones apart.
struct Element {
    int cost;
    int name;
    bool operator==(const Element &) const = default;
};
using Elements = std::vector<Element>;

bool less(const Element &a, const Element &b) {
    return a.cost < b.cost;
}
bool later(const Element &a, const Element &b) {
    return a.cost > b.cost;
}

// The heap: section 2.9, "sift-up", "adjust".
void sift_up(Elements &heap, Element x, size_t hole, size_t top) {
    while (hole > top && later(heap[(hole - 1) / 2], x)) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = x;
}

void adjust(Elements &heap, size_t hole, size_t n, Element x) {
    const size_t top = hole;
    size_t j = hole;
    while (j < (n - 1) / 2) {
        j = 2 * (j + 1);
        if (later(heap[j], heap[j - 1])) {
            --j;
        }
        heap[hole] = heap[j];
        hole = j;
    }
    if (n % 2 == 0 && j == (n - 2) / 2) {
        heap[hole] = heap[2 * j + 1];
        hole = 2 * j + 1;
    }
    sift_up(heap, x, hole, top);
}

void push(Elements &heap, Element x) {
    heap.push_back(x);
    sift_up(heap, x, heap.size() - 1, 0);
}

Element pop(Elements &heap) {
    const Element last = heap.back();
    heap.pop_back();
    if (heap.empty()) {
        return last;
    }
    const Element top = heap[0];
    adjust(heap, 0, heap.size(), last);
    return top;
}

void heapify(Elements &heap) {
    for (size_t i = heap.size() / 2; i-- > 0;) {
        adjust(heap, i, heap.size(), heap[i]);
    }
}

// The sort: section 2.9, last paragraph.
void insert(Elements &array, size_t at, size_t first) {
    const Element x = array[at];
    while (at > first && less(x, array[at - 1])) {
        array[at] = array[at - 1];
        --at;
    }
    array[at] = x;
}

size_t median(const Elements &array, size_t a, size_t b, size_t c) {
    if (less(array[a], array[b])) {
        return less(array[b], array[c]) ? b : less(array[a], array[c]) ? c : a;
    }
    return less(array[a], array[c]) ? a : less(array[b], array[c]) ? c : b;
}

size_t partition(Elements &array, size_t first, size_t last) {
    std::swap(array[first], array[median(array, first + 1, first + (last - first) / 2, last - 1)]);
    size_t left = first + 1;
    size_t right = last;
    for (;; ++left) {
        while (less(array[left], array[first])) {
            ++left;
        }
        do {
            --right;
        } while (less(array[first], array[right]));
        if (left >= right) {
            return left;
        }
        std::swap(array[left], array[right]);
    }
}

void order_roughly(Elements &array, size_t first, size_t last) {
    while (last - first > 16) {
        const size_t cut = partition(array, first, last);
        order_roughly(array, cut, last);
        last = cut;
    }
}

void sort(Elements &array) {
    order_roughly(array, 0, array.size());
    for (size_t i = 1; i < array.size(); ++i) {
        insert(array, i, 0);
    }
}

bool check(const char *what, const Elements &library, const Elements &specified) {
    if (library != specified) {
        std::printf("std::%s orders %zu elements, some of them equal, as section 2.9 does not\n", what, library.size());
    }
    return library == specified;
}

bool same_order(Elements elements) {
    Elements sorted = elements;
    std::sort(sorted.begin(), sorted.end(), less);
    Elements specified = elements;
    sort(specified);
    bool same = check("sort", sorted, specified);

    Elements heap = elements;
    std::make_heap(heap.begin(), heap.end(), later);
    specified = elements;
    heapify(specified);
    same &= check("make_heap", heap, specified);

    heap.clear();
    specified.clear();
    for (const Element &element : elements) {
        heap.push_back(element);
        std::push_heap(heap.begin(), heap.end(), later);
        push(specified, element);
    }
    same &= check("push_heap", heap, specified);
    Elements popped;
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        popped.push_back(heap.back());
        heap.pop_back();
    }
    elements.clear();
    while (!specified.empty()) {
        elements.push_back(pop(specified));
    }
    return check("pop_heap", popped, elements) && same;
}

}  // namespace

int main() {
    std::mt19937 random(0);
    bool same = true;
    for (int round = 0; round < 3000; ++round) {
        Elements elements(1 + random() % (round % 10 == 0 ? 2000 : 60));
        const uint32_t costs = 1 + random() % 12;
        for (size_t i = 0; i < elements.size(); ++i) {
            elements[i] = {static_cast<int>(random() % costs), static_cast<int>(i)};
        }
        same &= same_order(elements);
    }
    return same ? 0 : 1;
}
