#pragma once

#include <cstdint>
#include <sstream>
#include <string>

#include "problem/error.h"

// How the parameters of planners are checked.
namespace halidegym {

// Throws InvalidParameter with this message unless the condition holds.
inline void require(bool holds, const std::string &message) {
    if (!holds) {
        throw InvalidParameter(message);
    }
}

template <typename Value>
void require_range(const char *name, Value value, bool holds, const std::string &range) {
    std::ostringstream text;
    text << name << "=" << value << " is out of range; it must be " << range;
    require(holds, text.str());
}

inline void require_at_least(const char *name, int64_t value, int64_t minimum, const char *why = "") {
    require_range(name, value, value >= minimum, "at least " + std::to_string(minimum) + why);
}

inline void require_from_to(const char *name, int64_t value, int64_t minimum, int64_t maximum) {
    require_range(name, value, minimum <= value && value <= maximum,
                  "from " + std::to_string(minimum) + " to " + std::to_string(maximum));
}

inline void require_positive(const char *name, double value) {
    require_range(name, value, value > 0, "positive");
}

// Parameters that `check` has nothing against.
template <typename Options>
const Options &checked(const Options &options) {
    check(options);
    return options;
}

}  // namespace halidegym
