#pragma once

#include <pybind11/pybind11.h>

#include <chrono>

// Threads that work in C++ while the interpreter exits.
//
// An interpreter that exits ends every thread that asks for its lock, by unwinding it, which C++ does not survive. So
// the exit waits until no thread is in C++ without the lock, and asks searches to stop.
namespace halidegym {

// One piece of such work in the thread that makes it. Make it and let it go with the interpreter's lock held; in
// between the lock may be released.
class NativeWork {
public:
    // Raises SystemExit if the interpreter is exiting; threads end silently by that.
    NativeWork();
    ~NativeWork();
    NativeWork(const NativeWork &) = delete;
    NativeWork &operator=(const NativeWork &) = delete;

    // Raises SystemExit if the interpreter is exiting. Work that takes long asks from time to time, without the lock.
    static void check_exit();
};

// Work without the interpreter's lock.
class UnlockedWork {
private:
    NativeWork work_;
    pybind11::gil_scoped_release release_;
};

// What such work calls from time to time if it has no result unless it is done: raises KeyboardInterrupt on Ctrl-C, and
// SystemExit while the interpreter exits. Asks at most some twenty times a second.
class Pause {
public:
    void operator()();

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace halidegym
