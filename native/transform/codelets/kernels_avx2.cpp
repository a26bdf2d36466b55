#ifdef __x86_64__

#include "transform/codelets/kernel_entries.h"

namespace halidegym {

namespace {

constexpr auto entries_of_2_lanes = kernel_entries<2>(AllSizes{}, AllModes{});

}  // namespace

const KernelTable kernels_of_2_lanes = table_of(entries_of_2_lanes);

}  // namespace halidegym

#endif
