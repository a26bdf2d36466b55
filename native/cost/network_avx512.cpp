#ifdef __x86_64__

#include "cost/network_kernel.h"

namespace halidegym {

const NetworkKernel avx512_network_kernel = {Kernel<16>::keep, Kernel<16>::rate};

}  // namespace halidegym

#endif
