#include "nest/tilings.h"

#include <algorithm>

namespace halidegym {

namespace {

bool wastes_too_much(int64_t inner, int64_t outer, int64_t n) {
    return 7 * inner * outer > 8 * n;
}

}  // namespace

std::vector<int64_t> split_choices(int64_t n, int64_t growth) {
    std::vector<int64_t> choices;
    int64_t largest_inner = 0;
    for (int64_t inner = 1; inner < n; inner *= growth) {
        const int64_t outer = ceil_div(n, inner);
        if (inner > 1 && wastes_too_much(inner, outer, n)) {
            break;
        }
        largest_inner = inner;
        choices.push_back(outer);
    }
    for (int64_t outer = 1; outer <= n; outer *= growth) {
        const int64_t inner = ceil_div(n, outer);
        if ((outer > 1 && inner < 2 * largest_inner) || wastes_too_much(inner, outer, n)) {
            break;
        }
        choices.push_back(outer);
    }
    if (growth == 2 && n > 3) {
        const int64_t outer = ceil_div(n, 3);
        if (outer > 1 && outer < n && !wastes_too_much(3, outer, n)) {
            choices.push_back(outer);
        }
    }
    return choices;
}

int64_t growth_factor(int64_t prefixes) {
    int64_t growth = 2;
    while (prefixes > 100 * growth) {
        growth *= 2;
    }
    return growth;
}

// The product of the choices of each loop, without the tuple of ones and the whole size. (The reference skips these two
// when it chooses for the last loop, which changes nothing else.)
std::vector<Extents> tilings(const Extents &size) {
    std::vector<Extents> prefixes{Extents{}};
    for (const int64_t trips : size) {
        const auto choices = split_choices(trips, growth_factor(static_cast<int64_t>(prefixes.size())));
        std::vector<Extents> extended;
        extended.reserve(prefixes.size() * choices.size());
        for (const Extents &prefix : prefixes) {
            for (const int64_t choice : choices) {
                extended.push_back(prefix);
                extended.back().push_back(choice);
            }
        }
        prefixes = std::move(extended);
    }
    if (!size.empty()) {
        const Extents ones(size.size(), 1);
        std::erase_if(prefixes, [&](const Extents &tile) { return tile == size || tile == ones; });
    }
    return prefixes;
}

// Every loop of more than one trip has two choices, 1 or all. Read as binary digits, the loop listed first being the
// highest, they count the tuples up from all ones, which is left out. So is the last one, all outside, unless the
// outermost loop has one trip (docs/specification/search-space.md, quirk 4).
int64_t num_whole_loop_tilings(const Extents &size) {
    if (size.empty()) {
        return 1;
    }
    const auto choices = std::count_if(size.begin(), size.end(), [](int64_t trips) { return trips != 1; });
    const int64_t all = int64_t{1} << choices;
    return size[size.size() - 1] == 1 ? all - 1 : all - 2;
}

Extents whole_loop_tiling(const Extents &size, int64_t index) {
    Extents tile(size.size(), 1);
    int64_t digits = index + 1;
    for (int i = size.size() - 1; i >= 0; i--) {
        if (size[i] != 1) {
            tile[i] = digits % 2 == 1 ? size[i] : 1;
            digits /= 2;
        }
    }
    return tile;
}

}  // namespace halidegym
