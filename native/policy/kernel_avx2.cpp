#ifdef __x86_64__

#include "policy/kernel_loops.h"

namespace halidegym {

const PolicyKernel avx2_policy_kernel = PolicyLoops<8>::kernel;

}  // namespace halidegym

#endif
