#pragma once

#include <cstdint>
#include <functional>

namespace halidegym {

// How many threads the kernel may use: HL_NUM_THREADS, as Halide's runtime reads it.
int num_threads();

// Calls work(0), ..., work(count - 1), each in a thread of its own, and the first one in this. Threads that allocate
// leave an arena behind, and the kernel would find another heap than without them; so they should not.
void in_threads(int count, const std::function<void(int)> &work);

}  // namespace halidegym
