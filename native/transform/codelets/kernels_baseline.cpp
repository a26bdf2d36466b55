#include "transform/codelets/kernel_entries.h"

namespace halidegym {

namespace {

constexpr auto entries_of_1_lane = kernel_entries<1>(AllSizes{}, ModesOfOneLane{});

}  // namespace

const KernelTable kernels_of_1_lane = table_of(entries_of_1_lane);

}  // namespace halidegym
