#pragma once

#include <cstdint>

// Data alone, as kernel.h needs it.

namespace halidegym {

// How a codelet reaches the columns of a register: side by side in memory, with a transposition on the way, the same
// number for all, or one by one.
enum class LoadMode : uint8_t { Contiguous, OneByOne };
enum class StoreMode : uint8_t { Contiguous, Transposed, OneByOne };
enum class TwiddleMode : uint8_t { None, Contiguous, Broadcast, OneByOne };

struct AccessModes {
    LoadMode load;
    StoreMode store;
    TwiddleMode twiddle;

    friend bool operator==(const AccessModes &, const AccessModes &) = default;
};

}  // namespace halidegym
