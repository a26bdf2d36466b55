#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "problem/error.h"

namespace halidegym {

// Threads that wait for work as long as this object lives, each with a copy of a search space.
template <typename S>
class WorkerThreads {
public:
    WorkerThreads(const S &space, int count) : spaces_(static_cast<size_t>(count), space) {
        // A thread's first use of thread-local data allocates it, and ends the process if there is no memory left. So
        // threads begin when all of them are there, or none will be, with memory that was set aside for that.
        auto reserve = std::make_unique_for_overwrite<std::byte[]>(startup_bytes);
        const auto begin = [&] {
            reserve.reset();
            may_begin_.count_down();
        };
        for (S &own : spaces_) {
            try {
                threads_.emplace_back([this, &own](const std::stop_token &end) {
                    may_begin_.wait();
                    serve(end, own);
                });
            } catch (const std::system_error &error) {
                begin();
                throw OutOfResources("thread " + std::to_string(threads_.size() + 1) + " of " + std::to_string(count) +
                                     " cannot start (" + error.what() + "); give fewer threads");
            }
        }
        begin();
    }
    WorkerThreads(const WorkerThreads &) = delete;
    WorkerThreads &operator=(const WorkerThreads &) = delete;

    size_t size() const { return spaces_.size(); }

    // Does one of several pieces of work.
    using Work = std::function<void(S &space, size_t piece)>;

    // Pieces of work that all threads do, beginning them in order; one job at a time. An error stops the job. Its end
    // waits for the pieces that have begun.
    class Job {
    public:
        Job(WorkerThreads &threads, size_t count, Work work)
            : threads_(threads), work_(std::move(work)), is_done_(count, false) {
            const std::lock_guard lock(threads_.mutex_);
            threads_.job_ = this;
            threads_.has_work_.notify_all();
        }
        ~Job() {
            std::unique_lock lock(threads_.mutex_);
            stopped_ = true;
            threads_.has_done_.wait(lock, [&] { return running_ == 0; });
            threads_.job_ = nullptr;
        }
        Job(const Job &) = delete;
        Job &operator=(const Job &) = delete;

        // Until a piece is done; throws what it or one before it threw. The job must not have been stopped.
        void wait_for(size_t piece) {
            std::unique_lock lock(threads_.mutex_);
            threads_.has_done_.wait(lock, [&] { return is_done_[piece] || is_over(); });
            if (error_ && failed_ <= piece) {
                std::rethrow_exception(error_);
            }
        }

        // Until no piece is going on nor will begin; false if that takes longer. Throws what a piece threw.
        bool wait_for_all(std::chrono::milliseconds at_most) {
            std::unique_lock lock(threads_.mutex_);
            const bool over = threads_.has_done_.wait_for(lock, at_most, [&] { return is_over(); });
            if (over && error_) {
                std::rethrow_exception(error_);
            }
            return over;
        }

        // No further piece begins. Those that go on may ask whether the job is stopped.
        void stop() { stopped_ = true; }
        bool is_stopped() const { return stopped_; }

    private:
        friend class WorkerThreads;

        bool has_more() const { return !stopped_ && next_ < is_done_.size(); }
        bool is_over() const { return running_ == 0 && !has_more(); }
        void fail(size_t piece, std::exception_ptr error) {
            stopped_ = true;
            if (!error_ || piece < failed_) {
                error_ = std::move(error);
                failed_ = piece;
            }
        }

        WorkerThreads &threads_;
        const Work work_;
        std::vector<bool> is_done_;
        size_t next_ = 0;
        size_t running_ = 0;
        std::exception_ptr error_;
        size_t failed_ = 0;  // the first piece that threw one
        std::atomic<bool> stopped_ = false;
    };

private:
    static constexpr size_t startup_bytes = size_t{8} << 20;  // malloc asks for a megabyte at once

    void serve(const std::stop_token &end, S &space) {
        std::unique_lock lock(mutex_);
        while (has_work_.wait(lock, end, [&] { return job_ && job_->has_more(); })) {
            Job &job = *job_;
            const size_t piece = job.next_++;
            job.running_++;
            lock.unlock();
            std::exception_ptr error;
            try {
                job.work_(space, piece);
            } catch (...) {
                error = std::current_exception();
            }
            lock.lock();
            job.running_--;
            job.is_done_[piece] = true;
            if (error) {
                job.fail(piece, std::move(error));
            }
            has_done_.notify_all();
        }
    }

    std::vector<S> spaces_;
    std::latch may_begin_{1};
    std::mutex mutex_;
    std::condition_variable_any has_work_;
    std::condition_variable has_done_;
    Job *job_ = nullptr;
    std::vector<std::jthread> threads_;  // destroyed first: they end before what they work with
};

}  // namespace halidegym
