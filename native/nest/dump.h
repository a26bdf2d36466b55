#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/level.h"
#include "problem/problem.h"

namespace halidegym {

// A loop level as the text of a loop nest shows it (docs/specification/search-space.md, section 5): names instead of
// ids, and no regions but for the flags of the loops' extents.
struct PrintedLevel {
    struct Size {
        int64_t count = 0;
        bool constant = false;  // of the range that this level and those inside it cover together

        friend bool operator==(const Size &, const Size &) = default;
    };
    std::string func;         // empty at the root
    int stage = 0;            // index within the Func
    std::vector<Size> sizes;  // one per loop, innermost first
    int vectorized_loop = -1;
    int vector_dim = -1;
    bool tileable = false;
    bool innermost = false;
    bool parallel = false;  // not shown, and false, where innermost
    std::vector<std::string> store_at;
    std::vector<PrintedLevel> children;                    // in stored order, which is the reverse of the printed one
    std::vector<std::pair<std::string, int64_t>> inlined;  // Func, calls

    friend bool operator==(const PrintedLevel &, const PrintedLevel &) = default;
};

PrintedLevel describe(const Problem &problem, const Level &root);

// The text as the plugin prints it; that of a root begins with an empty line.
std::string dump(const PrintedLevel &level);
std::string dump(const Problem &problem, const Level &root);

// The nest that `text` shows, with or without the empty line. Whatever it accepts, dump() prints back unchanged (after
// the empty line). Throws FormatError, which names the line, for anything that dump() cannot have printed.
PrintedLevel parse_nest(std::string_view text);

}  // namespace halidegym
