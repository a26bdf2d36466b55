#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace halidegym {

// Doubles that begin at a page.
class AlignedMemory {
public:
    static constexpr size_t page = 4096;

    AlignedMemory() = default;
    explicit AlignedMemory(size_t doubles)
        : memory_(static_cast<double *>(std::aligned_alloc(page, (doubles * sizeof(double) / page + 1) * page))),
          size_(doubles) {
        if (!memory_) {
            throw std::bad_alloc();
        }
    }
    AlignedMemory(AlignedMemory &&other) noexcept
        : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
    AlignedMemory &operator=(AlignedMemory &&other) noexcept {
        memory_ = std::move(other.memory_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    double *data() const { return memory_.get(); }
    size_t size() const { return size_; }

private:
    struct Free {
        void operator()(double *memory) const { std::free(memory); }
    };
    std::unique_ptr<double, Free> memory_;
    size_t size_ = 0;
};

// Places for buffers in one block of memory. Buffers that all began at a page would fight for the same ways of the
// caches, so each begins nine cache lines further into its page than the one before it.
class Layout {
public:
    // Where a buffer of so many complex numbers begins, in doubles.
    size_t place(size_t complexes) {
        constexpr size_t page = AlignedMemory::page / sizeof(double), stagger = 9 * 64 / sizeof(double);
        const size_t wanted = count_++ * stagger % page;
        const size_t begin = end_ + (page + wanted - end_ % page) % page;
        end_ = begin + 2 * complexes;
        return begin;
    }
    size_t size() const { return end_; }

private:
    size_t count_ = 0, end_ = 0;
};

}  // namespace halidegym
