#include "transform/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "problem/error.h"

namespace halidegym {

namespace {

// Nanoseconds, by the width of the register where there are three: fitted by non-negative least squares to the relative
// run times of 1 400 random plans of 64 to 16384 points on an AVX-512 machine (docs/environments/transform_plan.md).
constexpr double per_call = 2.9, per_loop_run = 0.45, per_split = 6.3;
using ByWidth = std::array<double, 3>;
constexpr ByWidth operation{0.209, 0.131, 0.033};  // on a register, times log2 of the size
constexpr ByWidth contiguous{0.062, 0.01, 0.19};   // loads and stores, of twiddles too
constexpr ByWidth one_by_one{0.062, 0.085, 0.778};
constexpr ByWidth transposed{0.062, 0.403, 1.017};
constexpr ByWidth multiplied{0.01, 0.357, 0.01};
constexpr double in_sixteen_ways = 0.49, in_more_ways = 3.0;  // a number of a column whose numbers share a cache set
constexpr double columns_far_apart = 0.15, beyond_first_cache = 0.21;  // of all columns
constexpr int numbers_per_page = 4096 / 16;  // a page goes once round the sets of the first cache
constexpr int64_t first_cache_bytes = 32 * 1024;

size_t width_of(int lanes) {
    return lanes == 4 ? 2 : lanes - 1;
}

// How many numbers of a column fall into one set of the first cache.
int ways_in_use(const TransformProblem &problem, int stride) {
    return problem.n * std::gcd(stride, numbers_per_page) / numbers_per_page;
}

// One register of columns.
double group_nanoseconds(const TransformProblem &problem, int lanes) {
    const size_t width = width_of(lanes);
    const AccessModes modes = access_modes(problem, lanes);
    double number = operation[width] * std::log2(problem.n);
    number += modes.load == LoadMode::Contiguous ? contiguous[width] : one_by_one[width];
    number += modes.store == StoreMode::Contiguous   ? contiguous[width]
              : modes.store == StoreMode::Transposed ? transposed[width]
                                                     : one_by_one[width];
    if (modes.twiddle != TwiddleMode::None) {
        number += multiplied[width];
    }
    if (modes.twiddle == TwiddleMode::Contiguous) {
        number += contiguous[width];
    } else if (modes.twiddle == TwiddleMode::OneByOne) {
        number += one_by_one[width];
    }
    for (const int stride : {problem.is, problem.os}) {
        const int ways = ways_in_use(problem, stride);
        number += (ways >= 16 ? in_sixteen_ways : 0) + (ways >= 32 ? in_more_ways : 0);
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
    const int64_t numbers = int64_t{problem.n} * problem.v;
    nanoseconds +=
        static_cast<double>(numbers) * ((16 * numbers > first_cache_bytes ? beyond_first_cache : 0) +
                                        (std::max(problem.iv, problem.ov) >= numbers_per_page ? columns_far_apart : 0));
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
