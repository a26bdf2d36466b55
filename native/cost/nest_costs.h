#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cost/nest_table.h"
#include "cost/network.h"

namespace halidegym {

// Costs of a nest and of its children, as the features of a `NestTable` change: a stage whose row is the parent's needs
// at most the network's last steps, for the working sets, and not even these if an earlier child had the same at root.
class NestCosts {
public:
    NestCosts(std::shared_ptr<const CostModel> model, const NestTable &nest);

    // The table has started from another parent.
    float start();
    // The table looks at another child.
    float look_at();

    // The parts of the cost returned last, by position among the table's stages; valid until the next call.
    std::span<const float> stage_costs() const { return costs_; }

private:
    // Costs of the parent's rows when the whole nest uses so much memory.
    struct Variant {
        int64_t working_set_at_root;
        std::vector<float> costs;  // by position in the model's order; not a number where unknown
    };
    std::vector<float> &variant(int64_t working_set_at_root);
    bool has_parents_working_sets(size_t position) const;
    RatedRow rated(size_t position, const KeptRow &row) const;
    void begin_batch();
    void ask(size_t position, const KeptRow &row);
    void ask_anew(size_t position, KeptRow &row);
    void rate_batch();

    std::shared_ptr<const CostModel> model_;
    const NestTable &nest_;

    // Of the parent, by position in the model's order.
    std::vector<KeptRow> rows_;
    std::vector<NestTable::WorkingSets> working_sets_;
    std::vector<int> blocks_;
    std::vector<Variant> variants_;  // the first is the parent's own; the rest is in use up to num_variants_
    size_t num_variants_ = 0;

    // Of the child; kept for their storage.
    std::vector<KeptRow> own_rows_;
    std::vector<float> costs_;
    std::vector<size_t> positions_, known_later_;
    std::vector<RatedRow> batch_;
    std::vector<float> batch_costs_;
    std::vector<const FeatureRow *> kept_from_;
    std::vector<KeptRow *> kept_to_;
};

}  // namespace halidegym
