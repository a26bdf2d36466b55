#pragma once

#include <string>

namespace halidegym {

// "f" of "f$1": the name that its author gave a Func, without the suffix by which Halide keeps names unique in a
// process.
inline std::string base_name(const std::string &name) {
    return name.substr(0, name.find('$'));
}

}  // namespace halidegym
