#pragma once

#include <optional>
#include <span>

#include "cost/limits.h"
#include "cost/nest_costs.h"
#include "cost/nest_table.h"
#include "nest/level.h"
#include "state/space.h"

namespace halidegym {

// Rates nests of one space. The children of one nest, its parent, cost least one after the other. Holds working memory,
// so each thread needs its own.
class Evaluator {
public:
    explicit Evaluator(SpaceRef space);
    Evaluator(const Evaluator &) = delete;
    Evaluator &operator=(const Evaluator &) = delete;

    // Of the cost model; nothing if the nest exceeds a limit. Throws InvalidParameter if its weights give no number.
    std::optional<double> cost(const LevelRef &nest);
    // The same of what one decision makes of `parent`.
    std::optional<double> cost_of_child(const LevelRef &parent, const Level &child);

    // Whether what one decision makes of `parent` keeps all limits.
    bool accepts_child(const LevelRef &parent, const Level &child);

    // Lets go of the nest that was rated last.
    void release() { parent_ = nullptr; }

    // Of the nest rated last; valid until the next call.
    const FeatureTable &last_features() { return table_.table(); }
    // Those of one stage that is scheduled.
    FeatureRow last_row(int stage) const { return table_.complete_row(stage); }
    // Of its cost, if it had one, the part of each stage that is scheduled.
    std::span<const int> last_stages() const { return table_.stages(); }
    std::span<const float> last_stage_costs() const { return costs_.stage_costs(); }

    // Features of every scheduled stage; valid until the next call.
    const FeatureTable &features(const LevelRef &nest);

    // Whether it is the parent whose children cost least now.
    bool has_started_from(const LevelRef &nest) const { return parent_ == nest; }

private:
    void start(const LevelRef &parent);
    void look_at(const LevelRef &parent, const Level &child);
    std::optional<Limit> limit_of_child() const;
    std::optional<Limit> limit_of(std::span<const int> stages) const;
    double checked(float cost) const;

    SpaceRef space_;
    NestTable table_;
    NestCosts costs_;
    LevelRef parent_;
    std::optional<Limit> parents_limit_;
    std::optional<float> parents_cost_;  // empty until asked for
};

}  // namespace halidegym
