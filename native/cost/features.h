#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cost/block_history.h"
#include "cost/load_analysis.h"
#include "cost/schedule_feature.h"
#include "cost/sites.h"
#include "nest/level.h"
#include "problem/problem.h"

namespace halidegym {

using FeatureRow = std::array<double, num_schedule_features>;

// The rows of a nest: one for each stage of each scheduled Func that is no input.
struct FeatureTable {
    std::vector<FeatureRow> rows;  // by stage id; only those of `stages` mean anything
    std::vector<int> stages;  // with a row, in the cost model's order: Funcs in order, the last update of each first

    const FeatureRow &row(int stage) const { return rows[static_cast<size_t>(stage)]; }
};

// Computes the schedule features of complete and partial nests (Adams et al. 2019, section 5). Sections and quirks are
// those of docs/specification/schedule-features.md.
//
// This is what a search spends its time on, so everything that depends on the problem alone is prepared once,
// everything else is kept in arrays by node, stage or level, and nothing is allocated once these have grown. Not
// thread-safe: give each thread a Featurizer of its own.
class Featurizer {
public:
    // `problem` must outlive the featurizer.
    explicit Featurizer(const Problem &problem);
    Featurizer(const Featurizer &) = delete;
    Featurizer &operator=(const Featurizer &) = delete;

    // The result is valid until the next call. Blocks that this nest shares with that of the last call are not computed
    // anew, so it pays to rate nests in an order in which they resemble each other.
    const FeatureTable &compute(const Level &root);

    // The result of the last call.
    const FeatureTable &table() const { return table_; }

    // By stage id, 0 for inputs (section 5.2).
    std::span<const int64_t> points_computed_minimum() const { return points_minimum_; }

private:
    // What all stages of a realized Func share.
    struct Realization {
        int64_t productions;
        int64_t bytes_at_realization;
        int64_t bytes_at_production;
        int64_t innermost_bytes_at_realization;
        int64_t innermost_bytes_at_production;
        const Bound *at_store;
    };

    void list_stages();
    bool has_changed(const Node &node) const;
    void measure_realization(const Node &node);
    void measure_working_sets();
    void fill_block(int block);
    void fill_points(const Stage &stage, FeatureRow &row) const;
    void fill_innermost(const Stage &stage, FeatureRow &row) const;
    void fill_task(const Stage &stage, FeatureRow &row);
    void fill_working_sets(const Stage &stage, FeatureRow &row) const;
    void fill_reads(const Stage &stage, FeatureRow &row);
    void add_inlined_calls(const NestLevel &innermost);
    void fill_root(const Stage &stage, FeatureRow &row) const;
    int64_t unrolled_extent(const Stage &stage, const NestLevel &level, int64_t pure_extent) const;
    int64_t innermost_bytes(const Node &node, const Bound &bound, int dimension) const;

    const Problem &problem_;
    Regions root_regions_;
    std::vector<int64_t> points_minimum_;        // by stage
    std::vector<std::vector<int>> loop_of_dim_;  // by stage, then dimension: the loop over that pure argument, or -1

    Sites sites_;
    LoadAnalysis loads_;
    BlockHistory history_;
    std::vector<Realization> realizations_;  // by node
    std::vector<int64_t> working_sets_;      // by level
    FeatureTable table_;
};

}  // namespace halidegym
