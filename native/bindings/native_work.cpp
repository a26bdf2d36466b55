#include "bindings/native_work.h"

#include <pthread.h>

#include <atomic>
#include <thread>

#include "bindings/topics.h"

namespace py = pybind11;

namespace halidegym {

namespace {

std::atomic<int> num_working = 0;
std::atomic<bool> exiting = false;
std::thread::id exiting_thread;  // set before `exiting`; may go on, for the sake of other functions called at exit

bool must_stop() {
    return exiting && std::this_thread::get_id() != exiting_thread;
}

// Called with the lock held, before the interpreter is finalized. Ctrl-C ends the waiting.
void wait_for_work() {
    exiting_thread = std::this_thread::get_id();
    exiting = true;
    while (num_working > 0) {
        if (PyErr_CheckSignals() != 0) {
            throw py::error_already_set();
        }
        const py::gil_scoped_release release;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace

NativeWork::NativeWork() {
    check_exit();
    num_working++;
}

NativeWork::~NativeWork() {
    num_working--;
}

void NativeWork::check_exit() {
    if (must_stop()) {
        const py::gil_scoped_acquire gil;
        PyErr_SetNone(PyExc_SystemExit);
        throw py::error_already_set();
    }
}

void Pause::operator()() {
    NativeWork::check_exit();
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) {
        return;
    }
    last_ = now;
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) {
        throw py::error_already_set();
    }
}

void bind_native_work() {
    py::module_::import("atexit").attr("register")(py::cpp_function(&wait_for_work));
    // The other threads are not there in a child process.
    pthread_atfork(nullptr, nullptr, [] { num_working = 0; });
}

}  // namespace halidegym
