#include "env/worker_pool.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "problem/error.h"

namespace halidegym {

namespace {

// Few enough to cost little, many enough for threads to end at about the same time.
constexpr size_t chunks_per_thread = 8;

}  // namespace

WorkerPool::WorkerPool(int num_threads) : process_(getpid()) {
    if (num_threads < 1) {
        throw InvalidParameter("threads=" + std::to_string(num_threads) + " is too few; give at least 1");
    }
    try {
        while (static_cast<int>(threads_.size()) + 1 < num_threads) {
            threads_.emplace_back(&WorkerPool::serve, this);
        }
    } catch (const std::system_error &error) {
        stop();
        throw OutOfResources("cannot start " + std::to_string(num_threads) + " threads (" + error.what() +
                             "); ask for fewer");
    }
}

WorkerPool::~WorkerPool() {
    stop();
}

void WorkerPool::stop() {
    // A process forked from the one that made the pool has none of its threads.
    const bool is_forked = getpid() != process_;
    stops_ = true;
    call_++;
    call_.notify_all();
    for (std::thread &thread : threads_) {
        is_forked ? thread.detach() : thread.join();
    }
}

void WorkerPool::run(size_t count, const Work &work) {
    if (threads_.empty() || count < 2 || getpid() != process_) {
        work(0, count);
        return;
    }
    work_ = &work;
    count_ = count;
    chunk_ = std::max<size_t>(1, count / (chunks_per_thread * (threads_.size() + 1)));
    next_ = 0;
    num_busy_ = threads_.size();
    call_++;
    call_.notify_all();
    take_part();
    while (const size_t busy = num_busy_) {
        num_busy_.wait(busy);
    }
}

void WorkerPool::serve() {
    for (uint64_t seen = 0;; seen++) {
        call_.wait(seen);
        if (stops_) {
            return;
        }
        take_part();
        if (--num_busy_ == 0) {
            num_busy_.notify_one();
        }
    }
}

void WorkerPool::take_part() {
    for (size_t begin; (begin = next_.fetch_add(chunk_)) < count_;) {
        (*work_)(begin, std::min(count_, begin + chunk_));
    }
}

}  // namespace halidegym
