#pragma once

#include <span>
#include <vector>

#include "transform/execution/executable_plan.h"

namespace halidegym {

// How long a plan takes, and the reference plan beside it: seconds per run, one each turn.
struct TransformTiming {
    std::vector<double> samples_s;  // none if its output is wrong
    std::vector<double> reference_samples_s;
    double relative_error;  // of its output
    double executed_s;      // spent in running it
};

// Seconds per run, a row for each plan, a column for each round.
using TurnTimes = std::vector<std::vector<double>>;

// Times plans of one size on one input, hot, in seconds of the processor. Wherever the speed of the machine may change
// meanwhile, plans take turns. For one thread at a time.
class TransformStopwatch {
public:
    // The reference plan's outputs are compared with the expected one, too. Both arrays hold n complex numbers; throws
    // InvalidParameter if they do not.
    TransformStopwatch(const TransformPlan &reference, std::span<const double> input, std::span<const double> expected);

    int n() const { return n_; }
    // Median of the reference plan's samples when the stopwatch was made.
    double reference_s() const { return reference_s_; }

    // Relative error of a plan's output in the Euclidean norm; infinite if it left out a number, or touched its input.
    double error_of(const TransformPlan &plan);

    // Runs the plan once to see what it computes. If that is within the tolerance, plan and reference take turns.
    TransformTiming time(const TransformPlan &plan, int turns, double sample_s, double tolerance);

    // A sample of each plan in each round. All run beforehand.
    TurnTimes take_turns(std::span<const TransformPlan> plans, int rounds, double sample_s);

    // The same for ways to do a problem that plans of this size contain, on buffers of its own with its strides.
    TurnTimes take_turns(const TransformProblem &problem, std::span<const PlanNodeRef> ways, int rounds,
                         double sample_s) const;

private:
    double error_of(const ExecutablePlan &plan);

    int n_;
    TwiddleRoots roots_;
    AlignedMemory memory_;
    double *input_, *output_;
    std::vector<double> pristine_, expected_;
    AlignedMemory spare_;  // of the plan timed last
    ExecutablePlan reference_;
    double reference_s_ = 0;
};

}  // namespace halidegym
