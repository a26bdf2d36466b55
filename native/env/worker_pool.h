#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace halidegym {

// Threads that wait for work between calls. The caller works, too; one thread at a time may call.
class WorkerPool {
public:
    // Throws OutOfResources if the machine has not so many threads.
    explicit WorkerPool(int num_threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool &) = delete;
    WorkerPool &operator=(const WorkerPool &) = delete;

    // Calls `work(begin, end)` for ranges that make up all indices below `count`. It must not throw.
    using Work = std::function<void(size_t begin, size_t end)>;
    void run(size_t count, const Work &work);

private:
    void serve();
    void take_part();
    void stop();

    std::vector<std::thread> threads_;
    pid_t process_;

    // Of the current call. Written before `call_` changes, read by threads that saw it change.
    const Work *work_ = nullptr;
    size_t count_ = 0;
    size_t chunk_ = 1;
    std::atomic<size_t> next_ = 0;  // first index that nobody took
    std::atomic<size_t> num_busy_ = 0;
    std::atomic<uint64_t> call_ = 0;
    std::atomic<bool> stops_ = false;
};

}  // namespace halidegym
