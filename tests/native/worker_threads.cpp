// Pieces of work on threads: all are done, errors arrive in order, and a job that is stopped begins nothing more.

#include "search/worker_threads.h"

#include <stdexcept>

#include "example_problem.h"

using namespace halidegym;

namespace {

struct Space {
    int copies = 0;
};
using Threads = WorkerThreads<Space>;

std::string error_of(const std::function<void()> &action) {
    try {
        action();
        return "";
    } catch (const std::runtime_error &error) {
        return error.what();
    }
}

void test_every_piece_is_done_once() {
    Threads threads(Space{}, 3);
    for (size_t count = 0; count < 50; count++) {
        std::vector<std::atomic<int>> done(count);
        Threads::Job job(threads, count, [&](Space &, size_t i) { done[i]++; });
        for (size_t i = 0; i < count; i++) {
            job.wait_for(i);
            expect_equal("done", done[i].load(), 1);
        }
        while (!job.wait_for_all(std::chrono::milliseconds(20))) {
        }
        expect("not stopped", !job.is_stopped());
    }
}

void test_the_first_error_arrives() {
    Threads threads(Space{}, 4);
    Threads::Job job(threads, 100, [](Space &, size_t i) {
        if (i == 2) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        if (i >= 2) {
            throw std::runtime_error(std::to_string(i));
        }
    });
    expect("what was before is done", error_of([&] { job.wait_for(1); }).empty());
    expect("the first in order, not in time", error_of([&] { job.wait_for(2); }) == "2");
    expect("then those that did not begin", error_of([&] { job.wait_for(90); }) == "2" && job.is_stopped());
    const auto all = [&] {
        while (!job.wait_for_all(std::chrono::milliseconds(20))) {
        }
    };
    expect("of all", error_of(all) == "2");
}

void test_a_stopped_job_begins_nothing() {
    Threads threads(Space{}, 2);
    std::atomic<int> begun = 0;
    {
        Threads::Job job(threads, 1000000, [&](Space &, size_t) {
            begun++;
            while (!job.is_stopped()) {
                std::this_thread::yield();
            }
        });
        expect("it goes on", !job.wait_for_all(std::chrono::milliseconds(1)));
        job.stop();
        while (!job.wait_for_all(std::chrono::milliseconds(20))) {
        }
        expect("one piece a thread at most", begun <= 2 && job.is_stopped());
    }
    std::atomic<int> next = 0;
    {
        Threads::Job abandoned(threads, 1000000, [&](Space &, size_t) { next++; });
    }
    const int left = next;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    expect_equal("nothing goes on after the end of a job", next.load(), left);
}

}  // namespace

int main() {
    test_every_piece_is_done_once();
    test_the_first_error_arrives();
    test_a_stopped_job_begins_nothing();
    return failures == 0 ? 0 : 1;
}
