#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace halidegym {

// Up to `capacity` values of one type, addressed by index. They stay where they are, and their places are used again.
template <typename T>
class Arena {
public:
    explicit Arena(uint32_t capacity) : capacity_(capacity) {}

    bool is_full() const { return free_.empty() && used_ == capacity_; }
    uint32_t size() const { return used_ - static_cast<uint32_t>(free_.size()); }

    T &operator[](uint32_t index) { return blocks_[index / block_size][index % block_size]; }
    const T &operator[](uint32_t index) const { return blocks_[index / block_size][index % block_size]; }

    // The arena must not be full.
    uint32_t add(T value) {
        uint32_t index;
        if (free_.empty()) {
            if (used_ % block_size == 0) {
                blocks_.push_back(std::make_unique<T[]>(std::min(block_size, capacity_ - used_)));
            }
            index = used_++;
        } else {
            index = free_.back();
            free_.pop_back();
        }
        (*this)[index] = std::move(value);
        return index;
    }

    void remove(uint32_t index) { free_.push_back(index); }

private:
    static constexpr uint32_t block_size = 1024;

    uint32_t capacity_;
    uint32_t used_ = 0;
    std::vector<std::unique_ptr<T[]>> blocks_;
    std::vector<uint32_t> free_;
};

}  // namespace halidegym
