#include "transform/model.h"

#include <cmath>
#include <string>

#include "problem/error.h"

namespace halidegym {

namespace {

// Nanoseconds.
constexpr double per_call = 4;
constexpr double per_loop_run = 1.2;
constexpr double per_split = 6;
constexpr double per_operation = 0.16;                // on one register, times log2 of the size
constexpr std::array<double, 3> slowdown{1, 1, 1.3};  // of an operation, by the register's width
constexpr std::array<double, 3> contiguous{0.22, 0.26, 0.42};
constexpr std::array<double, 3> one_by_one{0.22, 0.62, 1.5};
constexpr std::array<double, 3> transposed{0.22, 0.5, 0.95};
constexpr std::array<double, 3> multiplied{0.3, 0.32, 0.45};  // by twiddles that are there
constexpr double broadcast = 0.1;
constexpr double spilled_32 = 0.25, spilled_64 = 0.55;  // for each number that does not fit into registers
constexpr double far_apart = 0.35;                      // for each number of a column in a page of its own
constexpr int numbers_per_page = 4096 / 16;
constexpr int64_t first_cache_bytes = 32 * 1024;

size_t width_of(int lanes) {
    return lanes == 4 ? 2 : lanes - 1;
}

// One register of columns.
double group_nanoseconds(const TransformProblem &problem, int lanes) {
    const size_t width = width_of(lanes);
    const AccessModes modes = access_modes(problem, lanes);
    double number = per_operation * slowdown[width] * std::log2(problem.n);
    number += modes.load == LoadMode::Contiguous ? contiguous[width] : one_by_one[width];
    number += modes.store == StoreMode::Contiguous   ? contiguous[width]
              : modes.store == StoreMode::Transposed ? transposed[width]
                                                     : one_by_one[width];
    if (modes.twiddle != TwiddleMode::None) {
        number += multiplied[width];
        number += modes.twiddle == TwiddleMode::Contiguous  ? contiguous[width]
                  : modes.twiddle == TwiddleMode::Broadcast ? broadcast
                                                            : one_by_one[width];
    }
    number += problem.n == 32 ? spilled_32 : problem.n == 64 ? spilled_64 : 0;
    for (const int stride : {problem.is, problem.os}) {
        number += stride >= numbers_per_page ? far_apart : 0;
    }
    return problem.n * number;
}

AccessPattern neighbours(int lanes) {
    return static_cast<AccessPattern>(width_of(lanes));
}

AccessPattern entry_pattern(const AccessModes &modes, int lanes) {
    return modes.load == LoadMode::Contiguous ? neighbours(lanes) : AccessPattern::One;
}

AccessPattern exit_pattern(const AccessModes &modes, int lanes) {
    return modes.store == StoreMode::Contiguous   ? neighbours(lanes)
           : modes.store == StoreMode::Transposed ? AccessPattern::Transposed
                                                  : AccessPattern::One;
}

}  // namespace

double codelet_microseconds(const TransformProblem &problem, int lanes) {
    const int groups = problem.v / lanes, rest = problem.v % lanes;
    double nanoseconds = per_call + groups * group_nanoseconds(problem, lanes);
    if (rest > 0) {
        nanoseconds += rest * group_nanoseconds(problem, 1);
    }
    return 1e-3 * nanoseconds;
}

TransformModel::TransformModel(double context) : context_(context) {
    if (!(context >= 0) || !std::isfinite(context)) {
        throw InvalidParameter("context is " + std::to_string(context) + "; it must be at least 0 and finite");
    }
}

PlanCost TransformModel::combine(const TransformProblem &problem, const TransformStep &step,
                                 std::span<const int32_t> runs, std::span<const PlanCost> subs) const {
    switch (step.kind) {
    case StepKind::Codelet: {
        const int lanes = step.parameter;
        const AccessModes modes = access_modes(problem, lanes);
        return {codelet_microseconds(problem, lanes), entry_pattern(modes, lanes), exit_pattern(modes, lanes)};
    }
    case StepKind::Loop:
        return {runs[0] * (subs[0].microseconds + 1e-3 * per_loop_run), subs[0].entry, subs[0].exit};
    default: {
        const int64_t numbers = int64_t{problem.n} * problem.v;
        const bool is_disturbed = subs[0].exit != subs[1].entry || 16 * numbers > first_cache_bytes;
        const double between = is_disturbed ? context_ * static_cast<double>(numbers) : 0;
        return {runs[0] * (subs[0].microseconds + 1e-3 * per_loop_run) +
                    runs[1] * (subs[1].microseconds + 1e-3 * per_loop_run) + 1e-3 * (per_split + between),
                subs[0].entry, subs[1].exit};
    }
    }
}

}  // namespace halidegym
