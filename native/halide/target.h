#pragma once

#include <string>

#include <Halide.h>

namespace halidegym {

// What a target string stands for: all of its parts are known, and schedules can be made for it. "host", alone or with
// features after it, is this machine with the instructions that its processor has. Throws InvalidParameter.
Halide::Target known_target(const std::string &name);

}  // namespace halidegym
