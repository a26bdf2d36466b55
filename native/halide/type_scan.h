#pragma once

#include <map>
#include <string>

#include <Halide.h>

namespace halidegym {

// All that a definition evaluates, as the arguments of one call: left-hand sides, values, predicate
// (docs/specification/function-dag.md, section 4.4).
Halide::Expr bundle_of(const Halide::Internal::Definition &definition);

struct TypeScan {
    Halide::Type narrowest;            // of at most 32 bits, since the bundle itself is an Int(32) call
    std::map<std::string, int> calls;  // call sites by callee name
    bool pointwise = true;             // every load is at exactly the Func's pure arguments
};

TypeScan scan_types(const Halide::Expr &bundle, const std::vector<std::string> &pure_args);

}  // namespace halidegym
