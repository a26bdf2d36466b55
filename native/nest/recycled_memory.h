#pragma once

#include <cstddef>
#include <limits>
#include <new>

namespace halidegym {

// Memory for the small pieces of which nests are made. Whoever takes decisions makes dozens of a few sizes at a time,
// and drops as many: more than the C library keeps at hand for a thread. Here each thread keeps what it gives back, to
// take the last block of a size first, which is likely still in its cache. Any thread may give back what another took.
class RecycledMemory {
public:
    // Throws std::bad_alloc.
    static void *take(size_t size);
    // With the size that it was taken with.
    static void give_back(void *memory, size_t size) noexcept;
};

// A base of what is made and dropped one at a time.
struct Recycled {
    static void *operator new(size_t size) { return RecycledMemory::take(size); }
    static void operator delete(void *memory, size_t size) noexcept { RecycledMemory::give_back(memory, size); }
};

// The same for the library's containers and for std::allocate_shared.
template <typename T>
class Recycling {
public:
    using value_type = T;
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

    Recycling() = default;
    template <typename Other>
    Recycling(const Recycling<Other> &) {}

    T *allocate(size_t count) {
        if (count > std::numeric_limits<size_t>::max() / sizeof(T)) {
            throw std::bad_array_new_length();
        }
        return static_cast<T *>(RecycledMemory::take(count * sizeof(T)));
    }
    void deallocate(T *memory, size_t count) noexcept { RecycledMemory::give_back(memory, count * sizeof(T)); }

    friend bool operator==(const Recycling &, const Recycling &) { return true; }
};

}  // namespace halidegym
