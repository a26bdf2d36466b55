#pragma once

#include <cstdint>
#include <vector>

namespace halidegym {

// What a process may use.
struct Limits {
    int parent = 0;              // ends with this process, whatever ends that one
    uint64_t address_space = 0;  // bytes; 0 for no limit
    std::vector<int> cpus;       // to run on; empty for all
};

// Replaces this process by `command`, confined: in a session of its own, so that Ctrl-C in a terminal reaches only
// those who started it; without core dumps; within the limits, which also hold for its children. Returns only by
// throwing std::runtime_error.
void run_confined(const Limits &limits, char **command);

}  // namespace halidegym
