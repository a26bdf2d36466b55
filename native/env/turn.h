#pragma once

#include <atomic>

#include "problem/error.h"

namespace halidegym {

// The time of one call on an object that belongs to one thread at a time; there is no call within a call.
//
// A call during a call of another thread throws Error: to wait for its turn would not help, since neither thread would
// know which decisions led to what it sees.
class Turn {
public:
    explicit Turn(std::atomic_flag &in_use,
                  const char *refusal = "Another thread is using this environment; give each thread an environment of "
                                        "its own")
        : in_use_(in_use) {
        if (in_use_.test_and_set(std::memory_order_acquire)) {
            throw Error(refusal);
        }
    }
    ~Turn() { in_use_.clear(std::memory_order_release); }
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

private:
    std::atomic_flag &in_use_;
};

}  // namespace halidegym
