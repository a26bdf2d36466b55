#include "env/worker_pool.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>

#include "problem/error.h"

namespace halidegym {

namespace {

// How long a thread stays awake for what it waits for: longer than Python takes between the calls of one step, shorter
// than a policy takes between two steps.
constexpr std::chrono::microseconds patience{50};

template <typename T>
void wait_for_change(const std::atomic<T> &value, T old) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (value == old) {
        if (std::chrono::steady_clock::now() > end) {
            value.wait(old);
            return;
        }
        std::this_thread::yield();  // to whoever else has work
    }
}

// Few enough to cost little, many enough for threads to end at about the same time.
constexpr size_t chunks_per_share = 8;

size_t checked_num_threads(int num_threads) {
    if (num_threads < 1) {
        throw InvalidParameter("threads=" + std::to_string(num_threads) + " is too few; give at least 1");
    }
    return static_cast<size_t>(num_threads);
}

}  // namespace

WorkerPool::WorkerPool(int num_threads) : shares_(checked_num_threads(num_threads)), process_(getpid()) {
    try {
        for (size_t thread = 1; thread < shares_.size(); thread++) {
            threads_.emplace_back(&WorkerPool::serve, this, thread);
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
    stops_ = true;
    call_++;
    call_.notify_all();
    for (std::thread &thread : threads_) {
        // A process forked from the one that made the pool has none of its threads.
        getpid() == process_ ? thread.join() : thread.detach();
    }
}

void WorkerPool::run(size_t count, const Work &work) {
    if (threads_.empty() || getpid() != process_) {
        work(0, count);
        return;
    }
    for (size_t i = 0; i < shares_.size(); i++) {
        shares_[i].next = i * count / shares_.size();
        shares_[i].end = (i + 1) * count / shares_.size();
    }
    work_ = &work;
    chunk_ = std::max<size_t>(1, count / (shares_.size() * chunks_per_share));
    is_open_ = true;
    call_++;
    call_.notify_all();
    take_part(0);
    is_open_ = false;
    while (const size_t inside = num_inside_) {
        wait_for_change(num_inside_, inside);
    }
}

void WorkerPool::serve(size_t thread) {
    for (uint64_t seen = 0;;) {
        wait_for_change(call_, seen);
        seen = call_;
        if (stops_) {
            return;
        }
        num_inside_++;
        if (is_open_) {
            take_part(thread);
        }
        num_inside_--;
        num_inside_.notify_one();
    }
}

void WorkerPool::take_part(size_t thread) {
    for (size_t i = 0; i < shares_.size(); i++) {
        Share &share = shares_[(thread + i) % shares_.size()];
        for (size_t begin; (begin = share.next.fetch_add(chunk_)) < share.end;) {
            (*work_)(begin, std::min(share.end, begin + chunk_));
        }
    }
}

}  // namespace halidegym
