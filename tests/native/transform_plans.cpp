// Random plans of all spaces against a transform in long double, on arrays that end where the numbers do.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "transform/execution/executable_plan.h"
#include "transform/kernels.h"
#include "transform/plan.h"
#include "transform/steps.h"

using namespace halidegym;

namespace {

using Exact = std::complex<long double>;

// By the smallest prime factor, recursively.
std::vector<Exact> transform(const std::vector<Exact> &x) {
    const size_t n = x.size();
    size_t p = 2;
    while (p < n && n % p != 0) {
        p++;
    }
    const size_t m = n / p;
    std::vector<std::vector<Exact>> parts(p);
    for (size_t i = 0; i < p && m > 0; i++) {
        std::vector<Exact> part(m);
        for (size_t j = 0; j < m; j++) {
            part[j] = x[i + p * j];
        }
        parts[i] = m == 1 ? part : transform(part);
    }
    std::vector<Exact> y(n);
    const long double turn = -2 * std::acos(-1.0L) / static_cast<long double>(n);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < p; i++) {
            y[k] += parts[i][k % m] * std::polar(1.0L, turn * static_cast<long double>(i * k % n));
        }
    }
    return y;
}

PlanNodeRef random_steps(const TransformProblem &problem, const TransformRules &rules, std::mt19937 &generator) {
    const std::vector<TransformStep> steps = steps_of(problem, rules);
    const TransformStep step = steps[generator() % steps.size()];
    PlanNode node{.step = step, .first = nullptr, .second = nullptr};
    const SubProblems subs = sub_problems(problem, step);
    for (size_t i = 0; i < subs.size(); i++) {
        (i == 0 ? node.first : node.second) = random_steps(subs[i].problem, rules, generator);
    }
    return std::make_shared<const PlanNode>(std::move(node));
}

std::vector<double> parts_of(const std::vector<Exact> &numbers) {
    std::vector<double> parts;
    for (const Exact &number : numbers) {
        parts.push_back(static_cast<double>(number.real()));
        parts.push_back(static_cast<double>(number.imag()));
    }
    return parts;
}

// The largest relative error of so many plans; infinite if an input was touched.
double worst_error(int n, StepRules rules, int plans) {
    std::mt19937 generator(static_cast<unsigned>(n));
    std::normal_distribution<double> normal;
    std::vector<Exact> numbers(static_cast<size_t>(n));
    std::generate(numbers.begin(), numbers.end(), [&] { return Exact(normal(generator), normal(generator)); });
    const std::vector<double> input = parts_of(numbers);
    const std::vector<Exact> expected = transform(numbers);
    const TwiddleRoots roots(n);
    AlignedMemory memory;
    double worst = 0;
    for (int i = 0; i < plans; i++) {
        const TransformPlan plan(n, random_steps(whole_transform(n), {rules, available_lanes()}, generator));
        ExecutablePlan executable(plan, roots, std::move(memory));
        const std::vector<double> given = input;
        std::vector<double> found(given.size(), std::numeric_limits<double>::quiet_NaN());
        executable.run(given.data(), found.data());
        memory = executable.release_memory();
        long double wrong = given == input ? 0 : INFINITY, all = 0;
        for (size_t k = 0; k < expected.size(); k++) {
            wrong += std::norm(expected[k] - Exact(found[2 * k], found[2 * k + 1]));
            all += std::norm(expected[k]);
        }
        const auto error = static_cast<double>(std::sqrt(wrong / all));
        if (!(error <= 2e-15)) {
            std::printf("n %d: error %g of %s\n", n, error, plan.text().c_str());
            return INFINITY;
        }
        worst = std::max(worst, error);
    }
    return worst;
}

}  // namespace

int main() {
    double worst = 0;
    for (const StepRules rules : {StepRules::Basic, StepRules::Lanes, StepRules::Wide}) {
        for (const int n : {2, 3, 4, 5, 7, 16, 20, 30, 64, 210, 256, 360, 1000, 1024, 2401, 4096}) {
            worst = std::max(worst, worst_error(n, rules, n <= 1024 ? 500 : 50));
        }
    }
    worst = std::max(worst, worst_error(65536, StepRules::Basic, 5));
    std::printf("largest relative error %g\n", worst);
    return worst <= 2e-15 ? 0 : 1;
}
