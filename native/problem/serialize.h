#pragma once

#include <string>
#include <string_view>

#include "problem/problem.h"

namespace halidegym {

// The file format of a problem (`.hlproblem`): 8 bytes of magic, the format's version (uint32), the payload's length
// (uint64) and checksum (uint64, FNV-1a), the payload. Integers are little-endian; what Problem::derive() fills is left
// out. Any change of the payload needs a new version.
inline constexpr int problem_format_version = 1;

// Throws UnsupportedPipeline if the problem is not portable.
std::string to_bytes(const Problem &problem);

// Throws FormatError, and does nothing worse, for whatever to_bytes() did not return.
Problem from_bytes(std::string_view bytes);

// What a search depends on, as bytes to take a digest of: all but names and the version of Halide that the problem was
// extracted with. The same pipeline gives the same bytes in any process, and however often it is built in one, although
// Halide then gives its Funcs and reduction domains other names. An expression that is not portable counts with its
// text.
std::string identity_bytes(const Problem &problem);

}  // namespace halidegym
