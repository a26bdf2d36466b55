#pragma once

#include <optional>
#include <vector>

#include "nest/level.h"
#include "problem/problem.h"

namespace halidegym {

// Bound records for the bodies of levels, of which those of Funcs far upstream of a level are remembered. Such a record
// takes long to derive, since all Funcs in between need theirs first; but it follows from the loops of the level alone,
// and the tilings of siblings and of their parents give many levels the same loops. Where a new one has the place of an
// old one, that is forgotten. Not thread-safe.
class DistantBounds {
public:
    explicit DistantBounds(const Problem &problem) : problem_(problem) {}

    // B(level, node) (docs/specification/search-space.md, section 4.2); valid until the next call.
    const Bound &of(const Level &level, int node) {
        const Bound *known = level.regions->known(node);
        if (known != nullptr) return *known;
        return is_distant(level, node) ? remembered(level, node) : level.regions->of(node);
    }

private:
    struct Entry {
        int stage = -1;
        int node = -1;
        std::vector<Span> loops;  // of the stage, at the level
        std::optional<Bound> bound;
    };

    bool is_distant(const Level &level, int node) const {
        return !level.is_root() && problem_.stages[static_cast<size_t>(level.stage)].is_far_downstream_of(node);
    }
    const Bound &remembered(const Level &level, int node);

    const Problem &problem_;
    std::vector<Entry> entries_;  // each at the place that its hash gives it; empty until needed
};

}  // namespace halidegym
