#include "transform/kernels.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "problem/error.h"

namespace halidegym {

namespace {

bool has_lanes(int lanes) {
#ifdef __x86_64__
    switch (lanes) {
    case 1:
        return true;
    case 2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case 4:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
    default:
        return false;
    }
#else
    return lanes == 1;
#endif
}

// HALIDEGYM_LANES makes this process one on a machine with shorter vectors.
int most_lanes() {
    const char *wanted = std::getenv("HALIDEGYM_LANES");
    if (wanted == nullptr) {
        return 4;
    }
    const std::string_view text = wanted;
    if (text != "1" && text != "2" && text != "4") {
        throw InvalidParameter("HALIDEGYM_LANES=" + std::string(text) +
                               " is no number of complex numbers in a vector register; give 1, 2 or 4, or unset it");
    }
    return text[0] - '0';
}

std::vector<int> lanes_here() {
    std::vector<int> all{1, 2, 4};
    std::erase_if(all, [most = most_lanes()](int lanes) { return lanes > most || !has_lanes(lanes); });
    return all;
}

std::span<const KernelEntry> kernels_of(int lanes) {
#ifdef __x86_64__
    const KernelTable &table = lanes == 1 ? kernels_of_1_lane : lanes == 2 ? kernels_of_2_lanes : kernels_of_4_lanes;
#else
    const KernelTable &table = kernels_of_1_lane;
#endif
    return {table.entries, table.count};
}

// One by one does for all modes, at more work.
bool does_for(const AccessModes &modes, const AccessModes &wanted) {
    return (modes.load == wanted.load || modes.load == LoadMode::OneByOne) &&
           (modes.store == wanted.store || modes.store == StoreMode::OneByOne) &&
           (modes.twiddle == wanted.twiddle ||
            (modes.twiddle == TwiddleMode::OneByOne && wanted.twiddle != TwiddleMode::None));
}

}  // namespace

const std::vector<int> &available_lanes() {
    static const std::vector<int> lanes = lanes_here();
    return lanes;
}

Kernel find_kernel(int size, int lanes, const AccessModes &modes) {
    if (std::ranges::find(available_lanes(), lanes) == available_lanes().end()) {
        throw InvalidParameter("codelet " + std::to_string(lanes) + ": this machine has no instructions for " +
                               std::to_string(lanes) + " complex numbers at once; use codelets of up to " +
                               std::to_string(available_lanes().back()));
    }
    for (const KernelEntry &entry : kernels_of(lanes)) {
        if (entry.size == size && does_for(entry.modes, modes)) {
            return entry.kernel;
        }
    }
    throw InternalError("no codelet of size " + std::to_string(size));
}

}  // namespace halidegym
