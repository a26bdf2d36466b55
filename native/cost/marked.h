#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace halidegym {

// A set of small numbers that is cheap to clear, and remembers the order in which they came.
class MarkedSet {
public:
    explicit MarkedSet(size_t size = 0) : is_member_(size) {}

    // Whether it was not there before.
    bool insert(int number) {
        auto &is_member = is_member_[static_cast<size_t>(number)];
        if (is_member != 0) return false;
        is_member = 1;
        members_.push_back(number);
        return true;
    }
    bool contains(int number) const { return is_member_[static_cast<size_t>(number)] != 0; }
    std::span<const int> members() const { return members_; }
    bool empty() const { return members_.empty(); }
    void clear() {
        for (const int number : members_) {
            is_member_[static_cast<size_t>(number)] = 0;
        }
        members_.clear();
    }

private:
    std::vector<uint8_t> is_member_;
    std::vector<int> members_;
};

}  // namespace halidegym
