#pragma once

namespace halidegym {

// Seconds for which threads of this process could have run but had no core to run on, since the process began, all
// threads together; including those in which the hypervisor ran something else ("steal"). Zero where the kernel does
// not tell.
double seconds_waited();

// Seconds of CPU time of this process so far, all threads together.
double cpu_seconds();

}  // namespace halidegym
