#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/spaces/search_space.h"

namespace halidegym {

// The type that the costs of a space are computed in.
template <typename S>
struct CostOf {
    using Type = double;
};
template <typename S>
    requires requires { typename S::Cost; }
struct CostOf<S> {
    using Type = typename S::Cost;
};

// An acceptable child, and its cost as the space gave it. Kept by the hundred thousand.
template <SearchSpace S>
struct RatedChild {
    typename S::Decision decision;
    uint32_t action : 31;   // index among the legal decisions
    uint32_t inherits : 1;  // whether the cost is the parent's
    typename CostOf<S>::Type cost;
};

// The acceptable children of a state, in the order of its decisions.
template <SearchSpace S>
using RatedChildren = std::shared_ptr<const std::vector<RatedChild<S>>>;

// The decisions that lead from the root to a state, as a number.
using Way = uint32_t;
inline constexpr Way root_way = 0;

// What the expansions of earlier passes found: most of them are asked for again, and costs do not depend on the pass.
//
// States are told apart by the way that leads to them, which neither needs a state nor mistakes one for another. Beam
// searches of schedules were not seen to reach equal states by different ways.
//
// Holds no more than a number of bytes, decisions that point elsewhere not included. What does not fit is not
// remembered.
template <SearchSpace S>
class ExpansionMemo {
public:
    static constexpr size_t default_capacity = size_t{256} << 20;

    explicit ExpansionMemo(int passes, size_t capacity = default_capacity)
        : passes_(passes), capacity_(passes > 1 ? capacity : 0), known_(1) {}

    void begin_pass(int pass) {
        pass_ = pass;
        swept_ = false;
    }

    // The way to a child.
    Way extend(Way way, uint32_t action) {
        if (way == nowhere) {
            return nowhere;
        }
        const uint64_t key = uint64_t{way} << 32 | action;
        if (const auto at = ways_.find(key); at != ways_.end()) {
            return at->second;
        }
        if (pass_ + 1 == passes_ || !take_bytes(bytes_of_way)) {
            return nowhere;
        }
        const auto next = static_cast<Way>(known_.size());
        ways_.emplace(key, next);
        known_.emplace_back();
        return next;
    }

    // Null if they are not known.
    RatedChildren<S> find(Way way) {
        if (way == nowhere) {
            return nullptr;
        }
        known_[way].used_in = pass_;
        return known_[way].children;
    }

    void remember(Way way, const RatedChildren<S> &children) {
        if (way != nowhere && pass_ + 1 < passes_ && take_bytes(bytes_of(*children))) {
            known_[way] = {children, pass_};
        }
    }

    size_t bytes() const { return bytes_; }

private:
    static constexpr Way nowhere = ~Way{0};

    struct Known {
        RatedChildren<S> children;
        int used_in = 0;  // pass
    };

    static constexpr size_t bytes_of_way = sizeof(Known) + 4 * sizeof(void *) + sizeof(std::pair<uint64_t, Way>);
    static size_t bytes_of(const std::vector<RatedChild<S>> &children) {
        return sizeof(children) + 4 * sizeof(void *) + children.capacity() * sizeof(RatedChild<S>);
    }

    bool take_bytes(size_t bytes) {
        if (bytes_ + bytes > capacity_ && !std::exchange(swept_, true)) {
            forget_old();
        }
        if (bytes_ + bytes > capacity_) {
            return false;
        }
        bytes_ += bytes;
        return true;
    }

    // What neither this pass nor the one before asked for.
    void forget_old() {
        for (Known &known : known_) {
            if (known.children && known.used_in + 1 < pass_) {
                bytes_ -= bytes_of(*known.children);
                known.children = nullptr;
            }
        }
    }

    const int passes_;
    const size_t capacity_;
    size_t bytes_ = 0;
    int pass_ = 0;
    bool swept_ = false;                      // in this pass
    std::vector<Known> known_;                // by way
    std::unordered_map<uint64_t, Way> ways_;  // by the parent's and the action
};

}  // namespace halidegym
