#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cost/distant_bounds.h"
#include "cost/feature_constants.h"
#include "cost/load_table.h"
#include "cost/marked.h"
#include "cost/sites.h"
#include "problem/problem.h"

namespace halidegym {

// Sections and quirks are those of docs/specification/schedule-features.md.

// Size of a region: bytes, and contiguous lines along the innermost storage dimension (section 4.5).
struct Footprint {
    int64_t bytes = 0;
    int64_t lines = 0;

    Footprint &operator+=(const Footprint &other) {
        bytes += other.bytes;
        lines += other.lines;
        return *this;
    }
};

// What a stage reads.
struct Reads {
    Footprint unique;
    int64_t allocation_bytes = 0;
};

// Loads per point of the body of a stage's innermost loop, after amortization over unrolled loops (section 4.4).
struct LoadCounts {
    std::array<double, num_load_kinds> of_kind{};
    double total = 0;

    double operator[](LoadKind kind) const { return of_kind[static_cast<size_t>(kind)]; }
};

struct VectorReads {
    Reads reads;
    LoadCounts loads;
};

// How often, and in the body of which level, reads are measured.
struct Reference {
    int level;
    int64_t count;
};

// Which regions of which producers a stage of a nest reads, and with what kinds of loads (sections 4 and 5.6). The nest
// is the one that `sites` was located in last.
class LoadAnalysis {
public:
    LoadAnalysis(const FeatureConstants &constants, const Sites &sites);

    // `unrolled` holds the trips of the loops around the innermost level if these get unrolled, else it is null. What
    // is allocated is left 0, unless `with_allocations` is set.
    VectorReads per_vector(int stage, const Reference &reference, const Extents *unrolled, bool with_allocations);

    Reads per_realization(int stage, const Reference &reference);

    // Reads of one task of a block from outside of it.
    Footprint per_task(const Stage &stage, int block);

    // Which Funcs the analyses since the last reset have met.
    std::span<const int> producers() const { return producers_.members(); }
    void reset_producers() { producers_.clear(); }

private:
    void start(int stage);
    const Stage &next_stage();
    bool insert(int node);
    void list_loads(int stage);
    void look_through(int inlined);
    LoadKind kind(const Load &load, int vectorized_loop) const;
    Footprint reads_of(int producer, const Reference &reference);
    Footprint footprint(int producer, int level);
    int64_t allocation_bytes(int producer);

    const Problem &problem_;
    const Sites &sites_;
    LoadTable table_;
    DistantBounds bounds_;

    // Of the walk in progress; kept for their storage.
    std::vector<int> pending_;       // stages, a stack
    std::vector<int> loads_;         // the list J of section 4.2, as positions in table_
    std::vector<int> replaced_;      // the next J
    std::vector<uint32_t> visited_;  // by node: the last walk that has come to it
    uint32_t walk_ = 0;
    MarkedSet producers_;
};

}  // namespace halidegym
