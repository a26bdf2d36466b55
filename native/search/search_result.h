#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace halidegym {

// A complete state that a planner found.
template <typename State>
struct Solution {
    State state;
    double cost;                    // of the model, without penalties
    std::vector<uint32_t> actions;  // index among the legal decisions, one per depth

    const std::vector<uint32_t> &way() const { return actions; }
};

// One improvement of the best complete cost.
struct Improvement {
    double seconds;
    int64_t evaluations;
    int64_t expansions;
    double cost;
};

struct Progress {
    int pass;
    int depth;
    int64_t evaluations;
    int64_t expansions;
    double best_cost;  // infinity while there is none
};

// When to stop before the algorithm ends by itself. Whatever was found so far is the result.
struct Budget {
    static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

    double seconds = std::numeric_limits<double>::infinity();
    int64_t evaluations = unlimited;
    int64_t expansions = unlimited;
    // Called from time to time; false stops the search.
    std::function<bool(const Progress &)> keep_going = [](const Progress &) { return true; };

    bool is_unlimited() const {
        return seconds == std::numeric_limits<double>::infinity() && evaluations == unlimited &&
               expansions == unlimited;
    }
};

enum class EndedBy {
    Finished,   // the algorithm came to its own end
    Budget,     // it was used up, which is the only end of an algorithm that goes on for as long as it may
    Interrupt,  // the caller wanted to stop
};

template <typename State>
struct SearchResult {
    std::vector<Solution<State>> solutions;  // best first, at most max_solutions
    std::vector<Solution<State>> pass_solutions;
    std::vector<double> pass_costs;  // as the algorithm compared them: a beam's may carry a penalty
    std::vector<Improvement> history;
    int64_t evaluations = 0;             // costs that were asked for
    int64_t remembered_evaluations = 0;  // of these, the ones that were known from before
    int64_t expansions = 0;
    int64_t forwards = 0;  // states that went through a learned network
    double seconds = 0;
    EndedBy ended_by = EndedBy::Finished;

    int64_t distinct_evaluations() const { return evaluations - remembered_evaluations; }
};

inline constexpr size_t max_solutions = 32;

// Counts what a search has used up, and collects what it finds: solutions, or what they are made of in the end.
template <typename State, typename Found = Solution<State>>
class SearchRecord {
public:
    explicit SearchRecord(Budget budget) : budget_(std::move(budget)) {}

    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

    // False once the budget is used up or the caller wants to stop.
    bool may_continue(int pass, int depth) {
        if (is_stopped()) {
            return false;
        }
        if (is_used_up()) {
            result.ended_by = EndedBy::Budget;
        } else if (!budget_.keep_going({pass, depth, result.evaluations, result.expansions, best_cost()})) {
            result.ended_by = EndedBy::Interrupt;
        }
        return !is_stopped();
    }

    // Whether something has ended the search before its own end.
    bool is_stopped() const { return result.ended_by != EndedBy::Finished; }

    bool is_used_up() const {
        return result.evaluations >= budget_.evaluations || result.expansions >= budget_.expansions ||
               seconds() >= budget_.seconds;
    }

    bool has_found() const { return !found_.empty(); }

    // Infinity while there is nothing.
    double best_cost() const { return has_found() ? found_.front().cost : std::numeric_limits<double>::infinity(); }

    // Whether something of this cost is among the best so far.
    bool would_keep(double cost) const { return found_.size() < max_solutions || cost < found_.back().cost; }

    void add(Found found) {
        if (!has_found() || found.cost < best_cost()) {
            result.history.push_back({seconds(), result.evaluations, result.expansions, found.cost});
        }
        if (std::ranges::any_of(found_, [&](const Found &other) { return other.way() == found.way(); })) {
            return;
        }
        found_.insert(std::ranges::upper_bound(found_, found.cost, {}, &Found::cost), std::move(found));
        if (found_.size() > max_solutions) {
            found_.pop_back();
        }
    }

    // The result of a pass, and its cost as the algorithm compared it.
    void end_pass(Solution<State> solution, double cost) {
        result.pass_solutions.push_back(std::move(solution));
        result.pass_costs.push_back(cost);
    }

    SearchResult<State> finish() { return finish_with(std::move(found_)); }

    template <typename MakeSolution>
    SearchResult<State> finish(const MakeSolution &solution_of) {
        std::vector<Solution<State>> solutions;
        for (Found &found : found_) {
            solutions.push_back(solution_of(std::move(found)));
        }
        return finish_with(std::move(solutions));
    }

    SearchResult<State> result;  // its solutions come last

private:
    SearchResult<State> finish_with(std::vector<Solution<State>> solutions) {
        result.solutions = std::move(solutions);
        result.seconds = seconds();
        return std::move(result);
    }

    std::vector<Found> found_;  // best first
    const Budget budget_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace halidegym
