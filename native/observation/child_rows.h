#pragma once

#include <span>
#include <vector>

#include "cost/schedule_feature.h"
#include "nest/nest_maker.h"
#include "state/evaluator.h"
#include "state/state.h"

namespace halidegym {

inline constexpr int num_child_costs = 4;
inline constexpr int num_child_features = num_child_costs + num_schedule_features;

// What the children of decisions are like, by the features of their nests. Each one read is an evaluation: to find the
// features is most of what a cost takes.
//
// Columns, of which the first four are natural logarithms of ratios, -20 to 20, and where a cost is 0, as of a nest in
// which nothing is scheduled, at these bounds:
//   0    cost / reference cost
//   1    part of the cost that the stages of the decision's Func have / cost
//   2    part of the other stages / cost
//   3    cost / least cost of those shown
//   4-42 log(1 + f) of the 39 schedule features, each summed over the stages of the decision's Func
// Of a child that exceeds a limit, which legal decisions do not lead to, columns 0 and 3 are 20, 1 and 2 are 0.
struct ChildRows {
    std::vector<float> rows;    // [decisions * num_child_features]
    std::vector<double> costs;  // [decisions], of the cost model; NaN where a child exceeds a limit
};

// Reads the children of states of one space. Holds working memory, so each thread needs its own.
class ChildReader {
public:
    explicit ChildReader(SpaceRef space) : evaluator_(std::move(space)) {}

    // Throws InvalidParameter if the weights of the cost model give no number.
    ChildRows read(Expansion &expansion, std::span<const Decision> decisions, double reference_cost);

private:
    void write_features(const Node &func, float *out) const;
    void write_parts(const Node &func, double cost, float *row);

    Evaluator evaluator_;
    Workbench bench_;
};

}  // namespace halidegym
