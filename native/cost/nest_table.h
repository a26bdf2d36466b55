#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cost/feature_constants.h"
#include "cost/feature_rows.h"
#include "cost/feature_table.h"
#include "cost/marked.h"
#include "cost/sites.h"
#include "nest/level.h"
#include "problem/problem.h"

namespace halidegym {

// The features of a nest, and those of its children at the cost of what makes them different: a row of the parent stays
// unless something that it depends on has changed, and is there again after the next child. Sections and quirks are
// those of docs/specification/schedule-features.md.
//
// What a row depends on: the levels of its own stage, with the regions in their bodies and how often they run; and
// where the Funcs that it reads are, which for those that are not scheduled yet follows from their other consumers
// (section 7). The features of the working sets change with every Func that is stored, so they are kept apart.
//
// This is what a search spends its time on, so everything that depends on the problem alone is prepared once,
// everything else is kept in arrays by node, stage or level, and nothing is allocated once these have grown. Not
// thread-safe: give each thread a table of its own.
class NestTable {
public:
    // `constants` must outlive the table.
    explicit NestTable(const FeatureConstants &constants);
    NestTable(const NestTable &) = delete;
    NestTable &operator=(const NestTable &) = delete;

    // A nest, the parent of those that are looked at until the next one. It must live so long.
    void start(const Level &parent);
    // A child of the parent: the nest that one of its decisions leads to. It is not needed afterwards.
    void look_at(const Level &child);

    // Of the nest looked at last, or else of the parent. Stages that are scheduled, in the cost model's order, those of
    // the parent first.
    std::span<const int> stages() const { return stages_; }
    // All features of a stage that is scheduled.
    FeatureRow complete_row(int stage) const;
    // Without the features of working sets beyond the first.
    const FeatureRow &row(int stage) const {
        return (has_own_row(stage) ? childs_rows_ : rows_)[static_cast<size_t>(stage)];
    }
    // Of the task, the production, the realization and the root: the last four features.
    using WorkingSets = std::array<int64_t, 4>;
    WorkingSets working_sets(int stage) const;
    // Whether the row is none of the parent.
    bool has_own_row(int stage) const { return own_rows_.contains(stage); }
    std::span<const int> own_rows() const { return own_rows_.members(); }
    // The block of the parent that the stage lies in, one of its positions.
    int block_of(int stage) const { return sites_.level(sites_.of_stage(stage).produce).block; }
    // Whether the child has another block in its place. If not, working sets of its stages can only differ at the root.
    bool has_replaced(int block) const { return sites_.current(block) != block; }
    int64_t working_set_at_root() const { return working_sets_.front(); }
    int64_t most_inlined_calls() const { return sites_.most_inlined_calls(); }

    // All of it; valid until the next call.
    const FeatureTable &table();

private:
    // A leaf that a Func is inlined into.
    struct InlinedAt {
        int position;
        int64_t calls;
    };

    void forget();
    void list_parents_stages();
    void list_stages(int node);
    bool is_same_realization(int node) const;
    void measure_realization(int node);
    void measure_childs_realizations();
    void measure_root();
    void measure_blocks();
    double working_set(int stage) const;
    FeatureRow realized_row(const Stage &stage);
    void fill_parents_rows();
    void find_moved();
    bool is_moved(int node) const;
    bool is_same_site(const Stage &stage) const;
    void fill_childs_rows();
    void fill_inlined_rows();
    FeatureRow inlined_row(const Node &node, std::span<const InlinedAt> leaves) const;
    void add_own_row(int stage, const FeatureRow &row);

    const Problem &problem_;
    Sites sites_;
    FeatureRows features_;

    // Of the parent.
    std::vector<FeatureRow> rows_;                   // by stage
    std::vector<std::vector<int>> readers_;          // by node: the stages whose rows depend on where it is
    std::vector<std::vector<InlinedAt>> inlined_;    // by node, in the order of the nest
    std::vector<Realization> parents_realizations_;  // by node
    size_t num_parents_stages_ = 0;
    int64_t parents_working_set_ = 0;

    // Of the child, or of the parent where they agree.
    std::vector<Realization> realizations_;  // by node
    std::vector<int64_t> working_sets_;      // by level
    std::vector<FeatureRow> childs_rows_;    // by stage
    std::vector<int> stages_;
    MarkedSet own_rows_, own_realizations_;
    std::vector<int> moved_;                // nodes
    std::vector<InlinedAt> newly_inlined_;  // of the Func that the child inlines
    MarkedSet to_sum_;                      // inlined nodes

    FeatureTable table_;
};

}  // namespace halidegym
