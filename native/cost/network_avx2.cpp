#ifdef __x86_64__

#include "cost/network_kernel.h"

namespace halidegym {

const NetworkKernel avx2_network_kernel = {Kernel<8>::keep, Kernel<8>::rate};

}  // namespace halidegym

#endif
