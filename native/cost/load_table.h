#pragma once

#include <array>
#include <cstdint>
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
    int reader = 0;    // stage that loads it
    int64_t count = 1;
    uint32_t invariant_loops = 0;                  // bit per loop that is no reduction and does not move the load
    std::array<LoadPattern, max_loops> by_loop{};  // as if that loop were vectorized
    LoadRange through{.begin = -1, .end = -1};     // what replaces it if the producer is inlined; -1: not known yet
};

// All loads that the edges of a problem have, which must outlive them.
struct EdgeLoads {
    explicit EdgeLoads(const Problem &problem);

    std::vector<Load> loads;
    std::vector<const LoadJacobian *> jacobians;  // of each load
    std::vector<LoadRange> of_edge;
};

// These, and those composed through inlined Funcs that a search has met so far: the matrix products of section 4.2
// depend only on the chain of edges, so each is formed once. What it is made of must outlive it.
class LoadTable {
public:
    LoadTable(const Problem &problem, const EdgeLoads &of_edges)
        : problem_(problem), of_edges_(of_edges), loads_(of_edges.loads) {}

    const Load &operator[](int load) const { return loads_[static_cast<size_t>(load)]; }

    LoadRange of_edge(int edge) const { return of_edges_.of_edge[static_cast<size_t>(edge)]; }

    // The loads that take the place of one whose producer is inlined: it is charged to the first producer of that Func
    // alone (quirk Q1).
    LoadRange through(int load);

private:
    const LoadJacobian &jacobian(int load) const {
        const auto index = static_cast<size_t>(load);
        const size_t num_of_edges = of_edges_.loads.size();
        return index < num_of_edges ? *of_edges_.jacobians[index] : composed_[index - num_of_edges];
    }

    const Problem &problem_;
    const EdgeLoads &of_edges_;
    std::vector<Load> loads_;
    std::vector<LoadJacobian> composed_;  // of the loads after those of edges
};

}  // namespace halidegym
