#ifdef __x86_64__

#include "policy/kernel_loops.h"

namespace halidegym {

const PolicyKernel avx512_policy_kernel = PolicyLoops<16>::kernel;

}  // namespace halidegym

#endif
