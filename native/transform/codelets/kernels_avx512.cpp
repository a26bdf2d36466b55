#ifdef __x86_64__

#include "transform/codelets/kernel_entries.h"

namespace halidegym {

namespace {

constexpr auto entries_of_4_lanes = kernel_entries<4>(AllSizes{}, AllModes{});

}  // namespace

const KernelTable kernels_of_4_lanes = table_of(entries_of_4_lanes);

}  // namespace halidegym

#endif
