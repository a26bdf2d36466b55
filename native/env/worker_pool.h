#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace halidegym {

// Threads that wait for work between calls. The caller works, too, and does all of it if they do not come in time; one
// thread at a time may call.
class WorkerPool {
public:
    // Throws OutOfResources if the machine has not so many threads.
    explicit WorkerPool(int num_threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool &) = delete;
    WorkerPool &operator=(const WorkerPool &) = delete;

    // Calls `work(begin, end)` for ranges that make up all indices below `count`. It must not throw. Each thread begins
    // with a share of its own, the same for equal counts, so that what belongs to an index tends to stay in the caches,
    // and in the heap, of one thread; then it helps the others.
    using Work = std::function<void(size_t begin, size_t end)>;
    void run(size_t count, const Work &work);

private:
    // A range of indices. One cache line each, since threads count in them.
    struct alignas(64) Share {
        std::atomic<size_t> next = 0;  // the first index that nobody took
        size_t end = 0;
    };

    void serve(size_t thread);
    void take_part(size_t thread);
    void stop();

    std::vector<Share> shares_;
    std::vector<std::thread> threads_;
    pid_t process_;

    std::atomic<uint64_t> call_ = 0;
    std::atomic<bool> is_open_ = false;   // what follows may be used by threads that are inside
    std::atomic<size_t> num_inside_ = 0;  // but for the caller
    std::atomic<bool> stops_ = false;
    const Work *work_ = nullptr;
    size_t chunk_ = 1;
};

}  // namespace halidegym
