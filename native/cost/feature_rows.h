#pragma once

#include <cstdint>
#include <vector>

#include "cost/feature_constants.h"
#include "cost/feature_table.h"
#include "cost/load_analysis.h"
#include "cost/sites.h"
#include "nest/level.h"
#include "problem/problem.h"

namespace halidegym {

// Sections and quirks are those of docs/specification/schedule-features.md.

// What all stages of a realized Func share.
struct Realization {
    int64_t productions = 0;
    int64_t bytes_at_realization = 0;
    int64_t bytes_at_production = 0;
    int64_t innermost_bytes_at_realization = 0;
    int64_t innermost_bytes_at_production = 0;
    const Bound *at_store = nullptr;
};

// The schedule features of one stage at a time (Adams et al. 2019, section 5), in the nest that `sites` was located in
// last; those that follow from the working sets of the nest are left 0.
class FeatureRows {
public:
    FeatureRows(const FeatureConstants &constants, const Sites &sites);

    Realization realization(const Node &node) const;

    // Of a stage that is realized.
    FeatureRow of_realized(const Stage &stage, const Realization &realization);
    // Which Funcs that took a look at.
    std::span<const int> producers() const { return loads_.producers(); }

    // Of a Func that is inlined: first for its stage alone, then for each leaf that it is inlined into, in the order of
    // the nest (quirk Q5), with the calls there and the row of the leaf's stage (section 6.1).
    FeatureRow of_inlined(const Stage &stage) const;
    static void add_calls(FeatureRow &row, const NestLevel &leaf, int64_t calls, const FeatureRow &consumer);

private:
    void fill_points(const Stage &stage, const Realization &realization, FeatureRow &row) const;
    void fill_innermost(const Stage &stage, FeatureRow &row) const;
    void fill_task(const Stage &stage, const Realization &realization, FeatureRow &row);
    void fill_reads(const Stage &stage, FeatureRow &row);
    void fill_root(const Stage &stage, FeatureRow &row) const;
    int64_t unrolled_extent(const Stage &stage, const NestLevel &level, int64_t pure_extent) const;
    int64_t innermost_bytes(const Node &node, const Bound &bound, int dimension) const;

    const FeatureConstants &constants_;
    const Problem &problem_;
    const Sites &sites_;
    LoadAnalysis loads_;
};

}  // namespace halidegym
