#include "policy/kernel_loops.h"

namespace halidegym {

const PolicyKernel baseline_policy_kernel = PolicyLoops<4>::kernel;

}  // namespace halidegym
