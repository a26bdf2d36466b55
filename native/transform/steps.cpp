#include "transform/steps.h"

#include <algorithm>
#include <span>

#include "problem/error.h"

namespace halidegym {

namespace {

constexpr std::array place_names{"inplace", "across", "along", "rows", "columns", "scratch"};
constexpr std::array all_places{SplitPlace::Inplace, SplitPlace::Across,  SplitPlace::Along,
                                SplitPlace::Rows,    SplitPlace::Columns, SplitPlace::Scratch};

// Members that mean nothing are 0, so that equal problems are equal values.
TransformProblem normalized(TransformProblem problem) {
    if (problem.v == 1) {
        problem.iv = problem.ov = problem.wv = 0;
    }
    if (!problem.scaled) {
        problem.ws = problem.wv = 0;
    }
    return problem;
}

// But 1 and n itself.
std::vector<int> divisors(int n) {
    std::vector<int> small, large;
    for (int d = 2; d * d <= n; d++) {
        if (n % d == 0) {
            small.push_back(d);
            if (d * d < n) {
                large.push_back(n / d);
            }
        }
    }
    small.insert(small.end(), large.rbegin(), large.rend());
    return small;
}

bool is_for_one_column(SplitPlace place) {
    return place == SplitPlace::Inplace || place == SplitPlace::Rows || place == SplitPlace::Columns;
}

SubProblems split(const TransformProblem &p, int r, SplitPlace place) {
    const int m = p.n / r;
    const bool alone = p.v == 1;
    // Strides of the buffer between the halves: of a transform of size m, and of the columns, or of the r transforms
    // of the only column.
    int ts = p.os, tv = alone ? m * p.os : p.ov;
    if (place == SplitPlace::Rows) {
        ts = 1, tv = m;
    } else if (place == SplitPlace::Columns) {
        ts = r, tv = 1;
    } else if (place == SplitPlace::Scratch) {
        ts = p.v, tv = 1;
    }
    TransformProblem a{.n = m, .is = p.is * r, .os = ts, .v = p.v, .iv = p.iv, .ov = tv};
    a.scaled = p.scaled;
    a.ws = p.ws * r;
    a.wv = p.wv;
    TransformProblem b{.n = r, .is = m * ts, .os = m * p.os, .v = m, .iv = ts, .ov = p.os};
    b.scaled = true;
    b.ws = m;
    b.wv = 1;
    b.in_place = !uses_scratch(place);
    SubProblems subs;
    if (alone) {
        a.v = r;
        a.iv = p.is;
        a.wv = p.ws;
        b.is = tv;
        if (place == SplitPlace::Columns) {
            b.ws = 1;
            b.wv = r;
        }
        subs.push_back({.problem = normalized(a)});
        subs.push_back({.problem = normalized(b)});
        return subs;
    }
    subs.push_back({normalized(a), r, p.is, m * ts, p.ws});
    if (place == SplitPlace::Along) {
        subs.push_back({normalized(b), p.v, tv, p.ov, 0});
        return subs;
    }
    b.v = p.v;
    b.iv = tv;
    b.ov = p.ov;
    b.wv = 0;
    subs.push_back({normalized(b), m, ts, p.os, 1});
    return subs;
}

}  // namespace

const char *name_of(SplitPlace place) {
    return place_names[static_cast<size_t>(place)];
}

std::string to_string(const TransformStep &step) {
    const std::string parameter = std::to_string(step.parameter);
    switch (step.kind) {
    case StepKind::Codelet:
        return "codelet " + parameter;
    case StepKind::Loop:
        return "loop " + parameter;
    default:
        return "split " + parameter + " " + name_of(step.place);
    }
}

std::string to_string(const std::vector<TransformStep> &steps) {
    std::string text;
    for (const TransformStep &step : steps) {
        text += (text.empty() ? "" : ", ") + to_string(step);
    }
    return text;
}

SubProblems sub_problems(const TransformProblem &problem, const TransformStep &step) {
    SubProblems subs;
    switch (step.kind) {
    case StepKind::Codelet:
        return subs;
    case StepKind::Loop: {
        const int b = step.parameter;
        TransformProblem body = problem;
        body.v = b;
        body.below_loop = b > 1;
        subs.push_back({normalized(body), problem.v / b, b * problem.iv, b * problem.ov, b * problem.wv});
        return subs;
    }
    default:
        return split(problem, step.parameter, step.place);
    }
}

int scratch_size(const TransformProblem &problem, const TransformStep &step) {
    return step.kind == StepKind::Split && uses_scratch(step.place) ? problem.n * problem.v : 0;
}

int num_twiddles(const TransformProblem &problem, const TransformStep &step) {
    return step.kind == StepKind::Split ? problem.n : 0;
}

bool applies(const TransformStep &step, const TransformProblem &problem) {
    const int parameter = step.parameter;
    switch (step.kind) {
    case StepKind::Codelet:
        return is_codelet_size(problem.n) && parameter <= problem.v &&
               std::ranges::find(codelet_lanes, parameter) != codelet_lanes.end();
    case StepKind::Loop:
        return !problem.below_loop && parameter >= 1 && parameter < problem.v && problem.v % parameter == 0;
    default:
        // In place, each column has to be read as a whole before it is written, as codelets do.
        return !problem.in_place && parameter > 1 && parameter < problem.n && problem.n % parameter == 0 &&
               is_for_one_column(step.place) == (problem.v == 1) &&
               (uses_scratch(step.place) || is_codelet_size(parameter));
    }
}

void check(const TransformRules &rules) {
    const auto &lanes = rules.lanes;
    const bool are_known = std::ranges::all_of(
        lanes, [](int lane) { return std::ranges::find(codelet_lanes, lane) != codelet_lanes.end(); });
    if (!are_known || std::ranges::adjacent_find(lanes, std::greater_equal()) != lanes.end() || lanes.empty() ||
        lanes.front() != 1) {
        throw InvalidParameter("lanes must be some of 1, 2 and 4, ascending, with 1 among them");
    }
}

std::vector<TransformStep> steps_of(const TransformProblem &problem, const TransformRules &rules) {
    std::vector<TransformStep> steps;
    const auto offer = [&](TransformStep step) {
        if (applies(step, problem)) {
            steps.push_back(step);
        }
    };
    for (const int lanes : rules.lanes) {
        offer({.kind = StepKind::Codelet, .parameter = static_cast<uint16_t>(lanes)});
    }
    if (rules.rules == StepRules::Basic && steps.size() > 1) {
        steps.erase(steps.begin(), steps.end() - 1);
    }
    const bool is_wide = rules.rules == StepRules::Wide;
    if (!problem.in_place) {
        for (const uint16_t columns : is_wide ? std::vector<uint16_t>{1, 4, 16} : std::vector<uint16_t>{1}) {
            offer({.kind = StepKind::Loop, .parameter = columns});
        }
    }
    const std::vector<int> radices = divisors(problem.n);
    for (const SplitPlace place : all_places) {
        if (is_wide || !uses_scratch(place)) {
            for (const int radix : radices) {
                offer({.kind = StepKind::Split, .place = place, .parameter = static_cast<uint16_t>(radix)});
            }
        }
    }
    return steps;
}

}  // namespace halidegym
