#include "allocations/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

// The other forms of new and delete (of arrays, sized, without exceptions) call these.

namespace {

std::atomic<uint64_t> allocations = 0;

void *counted(void *memory) {
    if (!memory) {
        throw std::bad_alloc();
    }
    allocations.fetch_add(1, std::memory_order_relaxed);
    return memory;
}

}  // namespace

uint64_t halidegym_allocations() {
    return allocations.load(std::memory_order_relaxed);
}

void *operator new(size_t size) {
    return counted(std::malloc(size == 0 ? 1 : size));
}

void *operator new(size_t size, std::align_val_t alignment) {
    const auto step = static_cast<size_t>(alignment);
    return counted(std::aligned_alloc(step, (size + step - 1) / step * step));
}

void operator delete(void *memory) noexcept {
    std::free(memory);
}

void operator delete(void *memory, std::align_val_t) noexcept {
    std::free(memory);
}

// The compiler warns where these are left to the library.
void operator delete(void *memory, size_t) noexcept {
    std::free(memory);
}

void operator delete(void *memory, size_t, std::align_val_t) noexcept {
    std::free(memory);
}
