#include "transform/observation.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace halidegym {

namespace {

float scaled_log(double value) {
    return static_cast<float>(std::log2(1 + value));
}

void write_problem(const TransformProblem &p, double runs, int level, std::span<float> row) {
    const double bytes = 16.0 * p.n * p.v * (p.scaled ? 3 : 2);
    const std::array<double, 10> sizes{double(p.n),  double(p.is), double(p.os), double(p.v), double(p.iv),
                                       double(p.ov), double(p.ws), double(p.wv), runs,        bytes};
    std::ranges::transform(sizes, row.begin(), scaled_log);
    row[10] = p.scaled;
    row[11] = p.below_loop;
    row[12] = p.in_place;
    row[13] = static_cast<float>(level);
}

// Writes the rows of a plan, from the root on.
class PlanRows {
public:
    PlanRows(const TransformTables &tables, const TransformActions &actions, const TransformObservation &out,
             double whole_cost)
        : tables_(tables), actions_(actions), out_(out), whole_cost_(whole_cost) {}

    void write(const Derivation &tree, size_t parent, double runs, int level) {
        const size_t number = ++num_written_;
        const std::span<float> row = out_.steps.subspan((number - 1) * num_step_columns, num_step_columns);
        write_problem(tables_.closure().problem(tree.problem), runs, level, row);
        out_.step_mask[number - 1] = 1;
        row[14] = static_cast<float>(parent);
        row[16] = static_cast<float>(runs * tree.cost.microseconds / whole_cost_);
        if (tree.is_open()) {
            if (!has_open_) {
                has_open_ = true;
                std::ranges::copy(row.first(num_problem_columns), out_.problem.begin());
            }
            return;
        }
        const StepChoice &choice = tables_.closure().choices(tree.problem)[tree.choice];
        row[15] = static_cast<float>(1 + actions_.index_of(choice.step));
        for (size_t i = 0; i < choice.num_subs(); i++) {
            write(*tree.subs[i], number, runs * choice.runs[i], level + 1);
        }
    }

private:
    const TransformTables &tables_;
    const TransformActions &actions_;
    const TransformObservation &out_;
    const double whole_cost_;
    size_t num_written_ = 0;
    bool has_open_ = false;
};

}  // namespace

TransformActions::TransformActions(const std::vector<TransformSpace> &spaces) {
    for (const TransformSpace &space : spaces) {
        const std::vector<TransformStep> steps = space.closure().distinct_steps();
        std::vector<TransformStep> merged;
        std::ranges::set_union(steps_, steps, std::back_inserter(merged));
        steps_ = std::move(merged);
    }
}

size_t TransformActions::index_of(const TransformStep &step) const {
    return static_cast<size_t>(std::ranges::lower_bound(steps_, step) - steps_.begin());
}

TransformActions::Taken TransformActions::take(std::span<const StepChoice> choices, int64_t action) const {
    if (action >= 0 && action < static_cast<int64_t>(size())) {
        const auto found = std::ranges::find(choices, steps_[static_cast<size_t>(action)], &StepChoice::step);
        if (found != choices.end()) {
            return {static_cast<uint32_t>(found - choices.begin()), true};
        }
    }
    const auto count = static_cast<int64_t>(choices.size());
    return {static_cast<uint32_t>((action % count + count) % count), false};
}

size_t observe(const TransformSpace::State &state, const TransformActions &actions,
               const TransformObservation &observation) {
    const TransformTables &tables = state.tables();
    const Derivation &tree = *state.tree();
    const double before = tree.cost.microseconds;
    PlanRows(tables, actions, observation, before).write(tree, 0, 1, 0);
    if (state.is_complete()) {
        return 0;
    }
    const auto choices = tables.closure().choices(open_problem(tree, 0).problem);
    for (uint32_t choice = 0; choice < choices.size(); choice++) {
        const size_t action = actions.index_of(choices[choice].step);
        observation.action_mask[action] = 1;
        if (!observation.estimates.empty()) {
            const double after = state.cost_after(choice).microseconds;
            observation.estimates[action] = static_cast<float>(std::log(after / before));
        }
    }
    return choices.size();
}

}  // namespace halidegym
