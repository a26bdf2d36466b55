#include "nest/recycled_memory.h"

#include <array>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, size) ((void)(memory))
#define ASAN_UNPOISON_MEMORY_REGION(memory, size) ((void)(memory))
#endif

namespace halidegym {

namespace {

constexpr size_t step = 16;              // sizes are rounded up to multiples of it
constexpr size_t largest = 1024;         // beyond it, blocks are the library's alone
constexpr size_t max_bytes = 64 * 1024;  // of spare blocks of each size

struct Spare {
    Spare *next;
};

// The spare blocks of one size.
struct Shelf {
    Spare *first = nullptr;
    int room = 0;  // for so many more; none before a thread takes its first block, and none when it ends
};

size_t shelf_of(size_t size) {
    return size == 0 ? 0 : (size - 1) / step;
}

size_t size_on(size_t shelf) {
    return (shelf + 1) * step;
}

constinit thread_local std::array<Shelf, largest / step> shelves{};
constinit thread_local bool is_ending = false;

// Opens the shelves of a thread, and clears them when it ends. What its other variables give back later is freed.
class Owner {
public:
    Owner() {
        for (size_t i = 0; i < shelves.size(); i++) {
            shelves[i].room = static_cast<int>(max_bytes / size_on(i));
        }
    }
    ~Owner() {
        is_ending = true;
        for (Shelf &shelf : shelves) {
            shelf.room = 0;
            while (shelf.first != nullptr) {
                ::operator delete(std::exchange(shelf.first, shelf.first->next));
            }
        }
    }
    Owner(const Owner &) = delete;
    Owner &operator=(const Owner &) = delete;
};

void *take_new(size_t shelf) {
    if (!is_ending) {
        thread_local const Owner owner;
    }
    return ::operator new(size_on(shelf));
}

}  // namespace

void *RecycledMemory::take(size_t size) {
    const size_t i = shelf_of(size);
    if (i >= shelves.size()) {
        return ::operator new(size);
    }
    Shelf &shelf = shelves[i];
    Spare *spare = shelf.first;
    if (spare == nullptr) {
        return take_new(i);
    }
    shelf.room++;
    shelf.first = spare->next;
    ASAN_UNPOISON_MEMORY_REGION(spare, size_on(i));
    return spare;
}

void RecycledMemory::give_back(void *memory, size_t size) noexcept {
    const size_t i = shelf_of(size);
    if (i >= shelves.size() || shelves[i].room == 0) {
        ::operator delete(memory);
        return;
    }
    Shelf &shelf = shelves[i];
    shelf.room--;
    Spare *spare = new (memory) Spare{shelf.first};
    shelf.first = spare;
    ASAN_POISON_MEMORY_REGION(spare + 1, size_on(i) - sizeof(Spare));  // whoever still uses it is found out
}

}  // namespace halidegym
