#include "nest/equality.h"

#include <algorithm>

namespace halidegym {

namespace {

// All but the regions, which follow from the rest.
bool equal_levels(const Level &a, const Level &b) {
    return a.stage == b.stage && a.node == b.node && a.size == b.size && a.inlined == b.inlined &&
           a.store_at == b.store_at && a.innermost == b.innermost && a.tileable == b.tileable &&
           a.parallel == b.parallel && a.vector_dim == b.vector_dim && a.vectorized_loop == b.vectorized_loop;
}

}  // namespace

bool equal_nests(const Level &a, const Level &b) {
    return &a == &b ||
           (equal_levels(a, b) && std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                                             [](const LevelRef &x, const LevelRef &y) { return equal_nests(*x, *y); }));
}

}  // namespace halidegym
