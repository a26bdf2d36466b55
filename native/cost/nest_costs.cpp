#include "cost/nest_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace halidegym {

namespace {

// So many that most parents need no more, and few enough to search.
constexpr size_t max_variants = 128;

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

// In the model's order, as the reference does it.
float sum(const std::vector<float> &costs) {
    float total = 0;
    for (const float cost : costs) {
        total += cost;
    }
    return total;
}

}  // namespace

NestCosts::NestCosts(std::shared_ptr<const CostModel> model, const NestTable &nest)
    : model_(std::move(model)), nest_(nest) {}

float NestCosts::start() {
    const auto stages = nest_.stages();
    rows_.resize(stages.size());
    working_sets_.resize(stages.size());
    blocks_.resize(stages.size());
    begin_batch();
    for (size_t w = 0; w < stages.size(); w++) {
        working_sets_[w] = nest_.working_sets(stages[w]);
        blocks_[w] = nest_.block_of(stages[w]);
        ask_anew(w, rows_[w]);
    }
    rate_batch();
    num_variants_ = 0;
    variant(nest_.working_set_at_root()) = costs_;
    return sum(costs_);
}

float NestCosts::look_at() {
    const auto stages = nest_.stages();
    std::vector<float> &shared = variant(nest_.working_set_at_root());
    known_later_.clear();
    own_rows_.resize(std::max(own_rows_.size(), nest_.own_rows().size()));
    begin_batch();
    for (size_t w = 0; w < stages.size(); w++) {
        const int stage = stages[w];
        if (nest_.has_own_row(stage)) {
            ask_anew(w, own_rows_[kept_to_.size()]);
            continue;
        }
        // Of the root's own, which every row may see, the variant takes care.
        const bool is_own = nest_.has_replaced(blocks_[w]) && !has_parents_working_sets(w);
        if (!is_own && !std::isnan(shared[w])) {
            costs_[w] = shared[w];
            continue;
        }
        if (!is_own) known_later_.push_back(w);
        ask(w, rows_[w]);
    }
    rate_batch();
    for (const size_t w : known_later_) {
        shared[w] = costs_[w];
    }
    return sum(costs_);
}

void NestCosts::begin_batch() {
    costs_.resize(nest_.stages().size());
    positions_.clear();
    batch_.clear();
    kept_from_.clear();
    kept_to_.clear();
}

void NestCosts::ask(size_t position, const KeptRow &row) {
    positions_.push_back(position);
    batch_.push_back(rated(position, row));
}

// With a row that the table has filled since.
void NestCosts::ask_anew(size_t position, KeptRow &row) {
    kept_from_.push_back(&nest_.row(nest_.stages()[position]));
    kept_to_.push_back(&row);
    ask(position, row);
}

void NestCosts::rate_batch() {
    model_->network().keep(kept_from_, kept_to_);
    batch_costs_.resize(batch_.size());
    model_->network().rate(batch_, model_->parallelism(), batch_costs_);
    for (size_t i = 0; i < positions_.size(); i++) {
        costs_[positions_[i]] = batch_costs_[i];
    }
}

// But for that of the root.
bool NestCosts::has_parents_working_sets(size_t position) const {
    const auto now = nest_.working_sets(nest_.stages()[position]);
    return std::equal(now.begin(), now.end() - 1, working_sets_[position].begin());
}

RatedRow NestCosts::rated(size_t position, const KeptRow &row) const {
    RatedRow rated{
        .row = &row, .algorithm = &model_->algorithm_part(position), .is_first = position == 0, .working_sets = {}};
    std::ranges::transform(nest_.working_sets(nest_.stages()[position]), rated.working_sets.begin(),
                           [](int64_t bytes) { return static_cast<float>(static_cast<double>(bytes)); });
    return rated;
}

// Of the parent's rows; when there are many, another one is given up.
std::vector<float> &NestCosts::variant(int64_t working_set_at_root) {
    for (size_t i = 0; i < num_variants_; i++) {
        if (variants_[i].working_set_at_root == working_set_at_root) return variants_[i].costs;
    }
    const size_t index = num_variants_ < max_variants
                             ? num_variants_++
                             : 1 + static_cast<size_t>(static_cast<uint64_t>(working_set_at_root) % (max_variants - 1));
    variants_.resize(std::max(variants_.size(), num_variants_));
    variants_[index].working_set_at_root = working_set_at_root;
    variants_[index].costs.assign(rows_.size(), unknown);
    return variants_[index].costs;
}

}  // namespace halidegym
