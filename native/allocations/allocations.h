#pragma once

#include <cstdint>

// How often operator new was called in this process, by all threads. A program that links the counter counts from its
// start; others have the library preloaded, and look the function up in it.
extern "C" __attribute__((visibility("default"))) uint64_t halidegym_allocations();
