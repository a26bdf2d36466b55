#pragma once

#include <stdexcept>
#include <string>

namespace halidegym {

// Every error that leaves the core is one of these; the bindings map each to a Python exception of the same name.
// A message names the input, the reason and the remedy.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A parameter out of its range (parallelism 0, beam size 0, an index past the end).
struct InvalidParameter : Error {
    using Error::Error;
};

// A pipeline that the analysis cannot express (docs/specification/function-dag.md, section 11).
struct UnsupportedPipeline : Error {
    using Error::Error;
};

// An output dimension, parameter or input extent without the estimate that the analysis needs.
struct MissingEstimate : UnsupportedPipeline {
    using UnsupportedPipeline::UnsupportedPipeline;
};

// A file that is truncated, of another version, or not of the expected kind.
struct FormatError : Error {
    using Error::Error;
};

// The search has no legal state left.
struct SearchExhausted : Error {
    using Error::Error;
};

// The machine has not the memory or the threads for what was asked.
struct OutOfResources : Error {
    using Error::Error;
};

// Halide rejected a schedule, or compiling it failed.
struct CompileError : Error {
    using Error::Error;
};

// A condition that the specification excludes; reaching it is a defect of this library.
struct InternalError : Error {
    using Error::Error;
};

}  // namespace halidegym
