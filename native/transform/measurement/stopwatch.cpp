#include "transform/measurement/stopwatch.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "problem/error.h"

namespace halidegym {

namespace {

constexpr int reference_samples = 15;
constexpr double reference_sample_s = 2e-4;
constexpr double calibration_s = 5e-6;

double seconds_by(clockid_t clock) {
    timespec time;
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Of this thread's own time: what it waits for a core on a busy machine is none.
double seconds() {
    return seconds_by(CLOCK_THREAD_CPUTIME_ID);
}

// Runs that take so long, given what one takes.
int runs_in(double seconds, double once) {
    return std::max(1, static_cast<int>(std::ceil(seconds / std::max(once, 1e-9))));
}

// What takes turns with others.
template <typename Run>
class Contestant {
public:
    // Warms up, and sees how many runs make a sample. By the wall clock, since asking for a thread's own time can take
    // as long as many runs; the less of two times, since one of them may hold a wait for a core.
    Contestant(Run run, double sample_s) : run_(std::move(run)) {
        run_();
        const double once = by_wall_clock(1);
        runs_ = runs_in(sample_s, std::min(once, by_wall_clock(runs_in(calibration_s, once))));
    }

    // What one run takes is known.
    Contestant(Run run, double sample_s, double once) : run_(std::move(run)), runs_(runs_in(sample_s, once)) {}

    // Seconds per run. The caches are what others have left, so one run comes first that does not count.
    double sample() {
        run_();
        return sample_of(runs_);
    }

    double executed_s() const { return executed_s_; }

private:
    double by_wall_clock(int runs) const {
        const double begin = seconds_by(CLOCK_MONOTONIC);
        for (int i = 0; i < runs; i++) {
            run_();
        }
        return (seconds_by(CLOCK_MONOTONIC) - begin) / runs;
    }

    double sample_of(int runs) {
        const double begin = seconds();
        for (int i = 0; i < runs; i++) {
            run_();
        }
        const double taken = seconds() - begin;
        executed_s_ += taken;
        return taken / runs;
    }

    Run run_;
    int runs_ = 1;
    double executed_s_ = 0;
};

template <typename Run>
TurnTimes turns_of(std::vector<Contestant<Run>> &contestants, int rounds) {
    TurnTimes times(contestants.size());
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < contestants.size(); i++) {
            times[i].push_back(contestants[i].sample());
        }
    }
    return times;
}

double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + static_cast<ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
}

// Complex numbers from the first to the last that a problem reaches.
size_t reach(int n, int along, int v, int across) {
    return static_cast<size_t>(n - 1) * static_cast<size_t>(along) +
           static_cast<size_t>(v - 1) * static_cast<size_t>(across) + 1;
}

}  // namespace

TransformStopwatch::TransformStopwatch(const TransformPlan &reference, std::span<const double> input,
                                       std::span<const double> expected)
    : n_(reference.n()), roots_(n_), pristine_(input.begin(), input.end()), expected_(expected.begin(), expected.end()),
      reference_(reference, roots_) {
    const auto size = static_cast<size_t>(n_);
    if (input.size() != 2 * size || expected.size() != 2 * size) {
        throw InvalidParameter("input and expected output must have " + std::to_string(n_) + " elements each");
    }
    Layout layout;
    const size_t in = layout.place(size), out = layout.place(size);
    memory_ = AlignedMemory(layout.size());
    input_ = memory_.data() + in;
    output_ = memory_.data() + out;
    std::ranges::copy(input, input_);
    const TransformPlan *plan = &reference;
    reference_s_ = median(take_turns({plan, 1}, reference_samples, reference_sample_s).front());
}

double TransformStopwatch::error_of(const ExecutablePlan &plan) {
    std::fill_n(output_, expected_.size(), std::numeric_limits<double>::quiet_NaN());
    plan.run(input_, output_);
    double wrong = 0, all = 0;
    for (size_t i = 0; i < expected_.size(); i++) {
        const double difference = output_[i] - expected_[i];
        wrong += difference * difference;
        all += expected_[i] * expected_[i];
    }
    const bool is_intact = std::memcmp(input_, pristine_.data(), pristine_.size() * sizeof(double)) == 0;
    const double error = std::sqrt(wrong / all);
    if (!is_intact) {
        std::ranges::copy(pristine_, input_);
    }
    return is_intact && !std::isnan(error) ? error : std::numeric_limits<double>::infinity();
}

double TransformStopwatch::error_of(const TransformPlan &plan) {
    return error_of(ExecutablePlan(plan, roots_));
}

TransformTiming TransformStopwatch::time(const TransformPlan &plan, int turns, double sample_s, double tolerance) {
    ExecutablePlan executable(plan, roots_, std::move(spare_));
    TransformTiming timing{{}, {}, error_of(executable), 0};
    if (timing.relative_error <= tolerance) {
        const auto runner = [this](const ExecutablePlan &of) { return [&of, this] { of.run(input_, output_); }; };
        std::vector contestants{Contestant(runner(executable), sample_s),
                                Contestant(runner(reference_), sample_s, reference_s_)};
        TurnTimes times = turns_of(contestants, turns);
        timing.samples_s = std::move(times[0]);
        timing.reference_samples_s = std::move(times[1]);
        timing.executed_s = contestants[0].executed_s();
    }
    spare_ = executable.release_memory();
    return timing;
}

TurnTimes TransformStopwatch::take_turns(std::span<const TransformPlan> plans, int rounds, double sample_s) {
    std::vector<ExecutablePlan> executables;
    for (const TransformPlan &plan : plans) {
        executables.emplace_back(plan, roots_);
    }
    const auto runner = [this](const ExecutablePlan &plan) { return [&plan, this] { plan.run(input_, output_); }; };
    std::vector<Contestant<decltype(runner(executables.front()))>> contestants;
    for (const ExecutablePlan &executable : executables) {
        contestants.emplace_back(runner(executable), sample_s);
    }
    return turns_of(contestants, rounds);
}

TurnTimes TransformStopwatch::take_turns(const TransformProblem &problem, std::span<const PlanNodeRef> ways, int rounds,
                                         double sample_s) const {
    Layout layout;
    const size_t in = layout.place(reach(problem.n, problem.is, problem.v, problem.iv));
    const size_t out = problem.in_place ? in : layout.place(reach(problem.n, problem.os, problem.v, problem.ov));
    const size_t scaling = problem.scaled ? layout.place(reach(problem.n, problem.ws, problem.v, problem.wv)) : in;
    // Zeros stay zeros, where others would grow without end in place.
    AlignedMemory buffers(layout.size());
    std::fill_n(buffers.data(), buffers.size(), 0.0);
    std::vector<ExecutablePlan> executables;
    for (const PlanNodeRef &way : ways) {
        executables.emplace_back(problem, *way, roots_);
    }
    const auto runner = [&](const ExecutablePlan &plan) {
        return [&plan, in, out, scaling, data = buffers.data()] { plan.run(data + in, data + out, data + scaling); };
    };
    std::vector<Contestant<decltype(runner(executables.front()))>> contestants;
    for (const ExecutablePlan &executable : executables) {
        contestants.emplace_back(runner(executable), sample_s);
    }
    return turns_of(contestants, rounds);
}

}  // namespace halidegym
