#include "runner/shares.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <vector>

namespace halidegym {

int num_threads() {
    const char *given = std::getenv("HL_NUM_THREADS");
    return std::max(1, given != nullptr ? std::atoi(given) : 1);
}

void in_threads(int count, const std::function<void(int)> &work) {
    std::vector<std::jthread> others;
    for (int i = 1; i < count; i++) {
        try {
            others.emplace_back([&work, i] { work(i); });
        } catch (const std::system_error &) {  // there is no room for its stack
            work(i);
        }
    }
    work(0);
}

}  // namespace halidegym
