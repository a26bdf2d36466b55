#include "nest/tilings.h"

#include <algorithm>

namespace halidegym {

namespace {

// What a prefix of chosen trip counts excludes for the last dimension: the trivial tuples.
struct Trivial {
    bool ones = false;  // all chosen entries are 1, so 1 would complete the all-ones tuple
    bool full = false;  // all chosen entries equal their size
};

bool wastes_too_much(int64_t inner, int64_t outer, int64_t n) {
    return 7 * inner * outer > 8 * n;
}

std::vector<int64_t> split_choices(int64_t n, int64_t growth, Trivial trivial) {
    std::vector<int64_t> choices;
    const auto is_trivial = [&](int64_t outer) { return (outer == 1 && trivial.ones) || (outer == n && trivial.full); };
    int64_t largest_inner = 0;
    for (int64_t inner = 1; inner < n; inner *= growth) {
        const int64_t outer = ceil_div(n, inner);
        if (is_trivial(outer)) {
            continue;
        }
        if (inner > 1 && wastes_too_much(inner, outer, n)) {
            break;
        }
        largest_inner = inner;
        choices.push_back(outer);
    }
    for (int64_t outer = 1; outer <= n; outer *= growth) {
        const int64_t inner = ceil_div(n, outer);
        if (is_trivial(outer)) {
            continue;
        }
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

// Coarser factors once there are many prefixes.
int64_t growth_factor(size_t prefixes) {
    int64_t growth = 2;
    while (static_cast<int64_t>(prefixes) > 100 * growth) {
        growth *= 2;
    }
    return growth;
}

}  // namespace

std::vector<Extents> tilings(const Extents &size) {
    std::vector<Extents> prefixes{Extents{}};
    for (int d = 0; d < size.size(); d++) {
        const int64_t growth = growth_factor(prefixes.size());
        const auto generic = split_choices(size[d], growth, {});
        std::vector<Extents> extended;
        extended.reserve(prefixes.size() * generic.size());
        for (const Extents &prefix : prefixes) {
            Trivial trivial;
            if (d + 1 == size.size()) {
                trivial = {std::all_of(prefix.begin(), prefix.end(), [](int64_t trips) { return trips == 1; }),
                           std::equal(prefix.begin(), prefix.end(), size.begin())};
            }
            const auto append = [&](const std::vector<int64_t> &choices) {
                for (const int64_t choice : choices) {
                    extended.push_back(prefix);
                    extended.back().push_back(choice);
                }
            };
            append(trivial.ones || trivial.full ? split_choices(size[d], growth, trivial) : generic);
        }
        prefixes = std::move(extended);
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
