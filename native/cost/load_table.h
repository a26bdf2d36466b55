#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "problem/problem.h"

namespace halidegym {

// Sections and quirks are those of docs/specification/schedule-features.md.

// What a vector of loads becomes (section 4.3). The values of the strided kinds are their strides.
enum class LoadKind : int8_t { Broadcast, Dense, Stride2, Stride3, Stride4, Gather };
inline constexpr int num_load_kinds = 6;

// How a load moves while one loop of the stage that issues it advances.
struct LoadPattern {
    LoadKind kind = LoadKind::Broadcast;
    int8_t dimension = -1;  // Dense, Stride...: the storage dimension in which it moves
};

// A range of positions in a LoadTable.
struct LoadRange {
    int begin = 0;
    int end = 0;
};

// One load Jacobian of a stage, of an edge of its own or composed through inlined Funcs, reduced to what costs depend
// on.
struct Load {
    int producer = 0;  // node that is loaded
    int64_t count = 1;
    uint32_t invariant_loops = 0;                  // bit per loop that is no reduction and does not move the load
    std::array<LoadPattern, max_loops> by_loop{};  // as if that loop were vectorized
    LoadRange through{.begin = -1, .end = -1};     // what replaces it if the producer is inlined; -1: not known yet
};

// All loads that the edges of a problem have, and those composed through inlined Funcs that a search has met so far:
// the matrix products of section 4.2 depend only on the chain of edges, so each is formed once.
class LoadTable {
public:
    explicit LoadTable(const Problem &problem);

    const Load &operator[](int load) const { return loads_[static_cast<size_t>(load)]; }

    LoadRange of_edge(int edge) const { return edges_[static_cast<size_t>(edge)]; }

    // The loads that take the place of one whose producer is inlined: it is charged to the first producer of that Func
    // alone (quirk Q1).
    LoadRange through(int load);

private:
    void add(const Stage &reader, int producer, LoadJacobian jacobian);

    const Problem &problem_;
    std::vector<Load> loads_;
    std::deque<LoadJacobian> jacobians_;  // by load
    std::vector<int> readers_;            // by load: the stage that issues it
    std::vector<LoadRange> edges_;
};

}  // namespace halidegym
