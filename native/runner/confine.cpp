#include "runner/confine.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>

namespace halidegym {
namespace {

void check(int status, const std::string &what) {
    if (status != 0) {
        throw std::runtime_error("cannot " + what + ": " + std::strerror(errno));
    }
}

void limit(decltype(RLIMIT_AS) resource, rlim_t value, const std::string &name) {
    rlimit current{};
    check(getrlimit(resource, &current), "read the limit of the " + name);
    // A limit that is stricter already stays: only a privileged process may raise it.
    const rlim_t bound = std::min(value, current.rlim_max);
    const rlimit wanted{bound, bound};
    check(setrlimit(resource, &wanted), "limit the " + name);
}

}  // namespace

void run_confined(const Limits &limits, char **command) {
    setsid();
    check(prctl(PR_SET_PDEATHSIG, SIGKILL), "tie this process to its parent");
    if (getppid() != limits.parent) {  // it ended before we could ask to be told
        _exit(1);
    }
    limit(RLIMIT_CORE, 0, "core dumps");
    if (limits.address_space > 0) {
        limit(RLIMIT_AS, limits.address_space, "memory");
    }
    if (!limits.cpus.empty()) {
        cpu_set_t set;
        CPU_ZERO(&set);
        for (const int cpu : limits.cpus) {
            CPU_SET(static_cast<size_t>(cpu), &set);
        }
        check(sched_setaffinity(0, sizeof set, &set), "run on the chosen cores");
    }
    execvp(command[0], command);
    throw std::runtime_error(std::string("cannot run ") + command[0] + ": " + std::strerror(errno));
}

}  // namespace halidegym
