#pragma once

#include <string>
#include <vector>

namespace halidegym {

// Loads a kernel, runs it once and says so ("ready SECONDS"), then answers commands on standard input, a line each:
//
//   sample RUNS FLUSH_BYTES               -> sample SECONDS CPU_SECONDS WAITED_SECONDS, of all runs together; so many
//                                            bytes of other memory are touched before them
//   check DIRECTORY RELATIVE ABSOLUTE INTEGER
//                                         -> points DIFFERING of ALL[: EXAMPLE]; see compare_outputs
//   write DIRECTORY                       -> outputs DESCRIPTION; see write_outputs
//
// What the pipeline prints to standard output is thrown away.
//
// Arguments: RUNTIME.so KERNEL.so SEED keep|return [INPUT=FILE]..., where "keep" keeps the memory that a run frees for
// the next one, and "return" gives it back to the system. Never returns: the process ends with its input, with status
// `failed` if the pipeline reports an error, or `out_of_memory`.
[[noreturn]] void serve_kernel(const std::vector<std::string> &arguments);

}  // namespace halidegym
