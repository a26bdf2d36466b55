#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace halidegym {

// A set of small numbers that is cheap to clear, and remembers the order in which they came.
class MarkedSet {
public:
    explicit MarkedSet(size_t size = 0) : is_member_(size), members_(size) {}

    // Whether it was not there before.
    bool insert(int number) {
        auto &is_member = is_member_[static_cast<size_t>(number)];
        if (is_member != 0) return false;
        is_member = 1;
        members_[num_members_++] = number;
        return true;
    }
    bool contains(int number) const { return is_member_[static_cast<size_t>(number)] != 0; }
    std::span<const int> members() const { return {members_.data(), num_members_}; }
    bool empty() const { return num_members_ == 0; }
    void clear() {
        for (const int number : members()) {
            is_member_[static_cast<size_t>(number)] = 0;
        }
        num_members_ = 0;
    }

private:
    std::vector<uint8_t> is_member_;
    std::vector<int> members_;  // up to num_members_
    size_t num_members_ = 0;
};

}  // namespace halidegym
