#include "runner/contention.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace halidegym {
namespace {

// Field 2 of schedstat: nanoseconds spent on a run queue (Linux, Documentation/scheduler/sched-stats.rst).
double seconds_on_run_queues() {
    uint64_t total = 0;
    std::error_code error;
    for (const auto &task : std::filesystem::directory_iterator("/proc/self/task", error)) {
        uint64_t running = 0;
        uint64_t waiting = 0;
        std::ifstream(task.path() / "schedstat") >> running >> waiting;
        total += waiting;
    }
    return static_cast<double>(total) * 1e-9;
}

// Of the whole machine: field 8 of the first line of /proc/stat, in ticks.
double seconds_stolen() {
    std::ifstream file("/proc/stat");
    std::string label;
    file >> label;
    uint64_t ticks = 0;
    for (int field = 0; field < 8; field++) {
        file >> ticks;
    }
    return file ? static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK)) : 0.0;
}

}  // namespace

double seconds_waited() {
    return seconds_on_run_queues() + seconds_stolen();
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval &time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace halidegym
