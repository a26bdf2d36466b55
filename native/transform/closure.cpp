#include "transform/closure.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "problem/error.h"

namespace halidegym {

namespace {

// Sizes of many factors have more by the rules of Wide, which would take minutes and gigabytes.
constexpr size_t max_problems = 1'000'000;

struct ProblemHash {
    size_t operator()(const TransformProblem &p) const {
        uint64_t hash = 0;
        for (const int value :
             {p.n, p.is, p.os, p.v, p.iv, p.ov, p.ws, p.wv, p.scaled * 4 + p.in_place * 2 + p.below_loop}) {
            hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15u;
            hash ^= hash >> 29;
        }
        return hash;
    }
};

// A problem whose steps are being followed.
struct Visit {
    TransformProblem problem;
    std::vector<StepChoice> choices;
    std::vector<TransformProblem> subs;  // of all choices, one after another
    size_t next = 0;
};

Visit visit_of(const TransformProblem &problem, const TransformRules &rules) {
    Visit visit{problem, {}, {}};
    for (const TransformStep &step : steps_of(problem, rules)) {
        StepChoice choice{.step = step};
        const SubProblems subs = sub_problems(problem, step);
        for (size_t i = 0; i < choice.num_subs(); i++) {
            choice.runs[i] = subs[i].runs;
            visit.subs.push_back(subs[i].problem);
        }
        visit.choices.push_back(choice);
    }
    return visit;
}

}  // namespace

StepClosure::StepClosure(int n, TransformRules rules) : rules_(std::move(rules)) {
    check(rules_);
    std::unordered_map<TransformProblem, ProblemId, ProblemHash> ids;
    std::vector<Visit> open{visit_of(whole_transform(n), rules_)};
    while (!open.empty()) {
        if (problems_.size() >= max_problems) {
            throw OutOfResources("the wide space of a transform of size " + std::to_string(n) + " has more than " +
                                 std::to_string(max_problems) + " problems; take basic or lanes, or another size");
        }
        Visit &visit = open.back();
        while (visit.next < visit.subs.size() && ids.contains(visit.subs[visit.next])) {
            visit.next++;
        }
        if (visit.next < visit.subs.size()) {
            const TransformProblem sub = visit.subs[visit.next];
            open.push_back(visit_of(sub, rules_));
            continue;
        }
        auto sub = visit.subs.begin();
        for (StepChoice &choice : visit.choices) {
            for (size_t i = 0; i < choice.num_subs(); i++) {
                choice.subs[i] = ids.at(*sub++);
            }
        }
        ids.emplace(visit.problem, static_cast<ProblemId>(problems_.size()));
        problems_.push_back(visit.problem);
        choices_.insert(choices_.end(), visit.choices.begin(), visit.choices.end());
        first_choice_.push_back(static_cast<uint32_t>(choices_.size()));
        open.pop_back();
    }
}

std::vector<TransformStep> StepClosure::distinct_steps() const {
    std::vector<TransformStep> steps;
    for (const StepChoice &choice : choices_) {
        steps.push_back(choice.step);
    }
    std::ranges::sort(steps);
    steps.erase(std::ranges::unique(steps).begin(), steps.end());
    return steps;
}

}  // namespace halidegym
