#include "cost/network_kernel.h"

namespace halidegym {

const NetworkKernel baseline_network_kernel = {Kernel<4>::keep, Kernel<4>::rate};

}  // namespace halidegym
