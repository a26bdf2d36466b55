// The beam search: what it remembers, what it hands to threads, and what it leaves unbuilt make no difference to what
// it finds.

#include "search/beam_search.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "example_problem.h"
#include "search/mb2fbs.h"
#include "search/spaces/optional_hooks.h"
#include "search/spaces/splitmix.h"

using namespace halidegym;

namespace {

// Small integers as costs, so that many are equal; a coarse hash, so that states are penalized; children that inherit
// their cost, and some that are not acceptable.
class Terrain {
public:
    struct Counts {
        std::atomic<int> listed = 0, built = 0, rated = 0, hashed = 0;
    };
    struct State {
        uint64_t path;
        int depth;
        uint32_t last;  // decision
    };
    using Decision = uint32_t;

    class Children {
    public:
        Children(State parent, std::vector<Decision> decisions, Counts &counts)
            : parent_(parent), decisions_(std::move(decisions)), counts_(&counts) {}
        Children(Children &&) = default;
        Children &operator=(Children &&) = default;
        std::span<const Decision> decisions() const { return decisions_; }
        State child(Decision decision) {
            counts_->built++;
            return peek(decision);
        }
        State peek(Decision decision) const {
            return {SplitMix64(parent_.path * 31 + decision)(), parent_.depth + 1, decision};
        }

    private:
        State parent_;
        std::vector<Decision> decisions_;
        Counts *counts_;
    };

    State root() const { return {seed, 0, 0}; }
    bool is_complete(const State &state) const { return state.depth == 6; }
    int depth(const State &state) const { return state.depth; }
    int max_depth() const { return 6; }
    Children children(const State &state) {
        counts->listed++;
        std::vector<Decision> decisions;
        for (Decision i = 0; i < 6; i++) {
            if (i == 0 || (state.path >> i & 3) != 0) {
                decisions.push_back(i);
            }
        }
        return {state, std::move(decisions), *counts};
    }
    State apply(const State &state, Decision decision) { return Children(state, {}, *counts).child(decision); }
    bool inherits_cost(Decision decision) const { return decision == 5; }
    std::optional<double> cost(const State &state) {
        counts->rated++;
        if (state.path == failing) {
            throw std::runtime_error("no cost");
        }
        return state.path % 13 == 0 ? std::nullopt : std::optional(static_cast<double>(1 + state.path % 7));
    }
    uint64_t hash(const State &state, int depth) {
        counts->hashed++;
        return state.path % static_cast<uint64_t>(2 + 3 * std::max(depth, 0));
    }
    bool equal(const State &a, const State &b) const { return a.path == b.path; }

    uint64_t seed = 0;
    uint64_t failing = 0;
    std::shared_ptr<Counts> counts = std::make_shared<Counts>();  // of all copies
};

class HelpfulTerrain : public Terrain {
public:
    std::optional<double> cost_of_child(Children &children, Decision decision) { return cost(children.peek(decision)); }
    struct Glimpse {
        HelpfulTerrain *space;
        State state;
        uint64_t hash(int depth) const { return space->hash(state, depth); }
    };
    Glimpse glimpse_of_child(Children &children, Decision decision) { return {this, children.peek(decision)}; }
    Children unlisted_children(const State &state) { return {state, {}, *counts}; }
};

class WatchedTerrain : public Terrain {
public:
    bool is_watched() const { return true; }
};

static_assert(RatesChildren<HelpfulTerrain> && ShowsChildren<HelpfulTerrain> &&
              BuildsUnlistedChildren<HelpfulTerrain> && MayBeWatched<WatchedTerrain>);
static_assert(!RatesChildren<Terrain> && !ShowsChildren<Terrain> && !BuildsUnlistedChildren<Terrain> &&
              !MayBeWatched<Terrain>);

using Result = SearchResult<Terrain::State>;

template <typename S>
struct Searched {
    Result result;
    std::shared_ptr<Terrain::Counts> counts;
};

template <typename S>
Searched<S> search(uint64_t seed, const BeamOptions &options, const Budget &budget = {}) {
    S space;
    space.seed = seed;
    return {BeamSearch<S>(space, options, budget).run(), space.counts};
}

bool equal_results(const Result &a, const Result &b) {
    const auto equal_solutions = [](const auto &ours, const auto &theirs) {
        return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), [](const auto &x, const auto &y) {
            return x.cost == y.cost && x.actions == y.actions && x.state.path == y.state.path;
        });
    };
    const auto equal_steps = [](const Improvement &x, const Improvement &y) {
        return x.cost == y.cost && x.evaluations == y.evaluations && x.expansions == y.expansions;
    };
    return equal_solutions(a.solutions, b.solutions) && equal_solutions(a.pass_solutions, b.pass_solutions) &&
           a.pass_costs == b.pass_costs && a.evaluations == b.evaluations && a.expansions == b.expansions &&
           a.ended_by == b.ended_by &&
           std::equal(a.history.begin(), a.history.end(), b.history.begin(), b.history.end(), equal_steps);
}

const std::vector<BeamOptions> settings{
    {.beam_size = 1},
    {.beam_size = 7},
    {.beam_size = 7, .passes = 3, .random_dropout = 40, .seed = 2},
    {.beam_size = 40, .passes = 4},
    {.beam_size = 300},
};

void test_neither_memory_nor_hooks_make_a_difference() {
    for (uint64_t seed = 1; seed < 6; seed++) {
        for (const BeamOptions &options : settings) {
            const auto watched = search<WatchedTerrain>(seed, options);
            expect_equal("nothing is remembered while somebody watches", watched.result.remembered_evaluations, 0);
            const auto plain = search<Terrain>(seed, options);
            expect("memory makes no difference", equal_results(watched.result, plain.result));
            const bool repeats = options.num_passes() > 1;
            expect("costs are remembered", (plain.result.remembered_evaluations > 0) == repeats);
            expect("and not computed again", (plain.counts->rated < watched.counts->rated) == repeats);
            const auto helpful = search<HelpfulTerrain>(seed, options);
            expect("hooks make no difference", equal_results(watched.result, helpful.result));
            expect_equal("the same is rated", helpful.counts->rated.load(), plain.counts->rated.load());
            expect("what is known is not listed again",
                   (helpful.counts->listed < helpful.result.expansions) == repeats);
            expect("children are built only to be expanded or returned",
                   helpful.counts->built <= helpful.result.expansions + options.num_passes() * options.beam_size);
        }
    }
}

void test_threads_make_no_difference() {
    const auto limited = [](int64_t evaluations, int64_t expansions) {
        Budget budget;
        budget.evaluations = evaluations;
        budget.expansions = expansions;
        return budget;
    };
    std::vector<Budget> budgets{{}};
    for (const int64_t limit : {0, 1, 10, 77, 500, 3000}) {
        budgets.push_back(limited(limit, Budget::unlimited));
        budgets.push_back(limited(Budget::unlimited, limit / 5));
    }
    for (uint64_t seed = 1; seed < 4; seed++) {
        for (BeamOptions options : settings) {
            for (const Budget &budget : budgets) {
                options.threads = 1;
                const auto alone = search<Terrain>(seed, options, budget);
                for (options.threads = 2; options.threads <= 5; options.threads += 3) {
                    const auto together = search<HelpfulTerrain>(seed, options, budget);
                    expect("threads", equal_results(alone.result, together.result));
                    expect_equal("remembered", together.result.remembered_evaluations,
                                 alone.result.remembered_evaluations);
                }
            }
        }
    }
}

void test_the_caller_is_asked_in_its_own_thread() {
    const auto caller = std::this_thread::get_id();
    bool elsewhere = false;
    int64_t expansions = 0;
    Budget budget;
    budget.keep_going = [&](const Progress &progress) {
        elsewhere = elsewhere || std::this_thread::get_id() != caller;
        expect("expansions are counted in order", progress.expansions >= expansions);
        expansions = progress.expansions;
        return progress.expansions < 50;
    };
    const auto stopped = search<Terrain>(1, {.beam_size = 40, .threads = 3}, budget);
    expect("asked by the caller's thread", !elsewhere && stopped.result.ended_by == EndedBy::Interrupt);
}

// A state that cannot be rated matters when its turn comes, and not before.
void test_errors_arrive_in_order() {
    const auto whole = search<Terrain>(1, {.beam_size = 7});
    for (const int threads : {1, 3}) {
        const BeamOptions options{.beam_size = 7, .threads = threads};
        Terrain space;
        space.seed = 1;
        space.failing = whole.result.solutions.front().state.path;
        bool thrown = false;
        try {
            BeamSearch<Terrain>(space, options, Budget{}).run();
        } catch (const std::runtime_error &error) {
            thrown = std::string(error.what()) == "no cost";
        }
        expect("the error arrives", thrown);
        Budget budget;
        budget.expansions = 2;
        expect("what was not asked for raises none",
               !BeamSearch<Terrain>(space, options, budget).run().solutions.empty());
    }
}

void test_mb2fbs_remembers_too() {
    for (uint64_t seed = 1; seed < 6; seed++) {
        Terrain plain;
        WatchedTerrain watched;
        plain.seed = watched.seed = seed;
        const Mb2fbsOptions options{.beta1 = 6, .beta2 = 3, .beta = 9};
        const auto ours = Mb2fbs<Terrain>(plain, options, Budget{}).run();
        const auto theirs = Mb2fbs<WatchedTerrain>(watched, options, Budget{}).run();
        expect("memory makes no difference to MB2FBS", equal_results(ours, theirs));
        expect("which has some", ours.remembered_evaluations > 0 && plain.counts->rated < watched.counts->rated);
    }
}

void test_memory_is_bounded() {
    const auto children = [](size_t count) {
        return std::make_shared<const std::vector<RatedChild<Terrain>>>(count, RatedChild<Terrain>{1, 2, 0, 3.0});
    };
    ExpansionMemo<Terrain> memo(5, 10000);
    const Way first = memo.extend(root_way, 3);
    expect("a way has one number", first != root_way && memo.extend(root_way, 3) == first &&
                                       memo.extend(root_way, 4) != first && memo.extend(first, 3) != first);
    expect("nothing is known yet", !memo.find(first));
    memo.remember(first, children(100));
    memo.remember(root_way, children(100));
    expect("what fits is remembered", memo.find(first)->size() == 100 && memo.find(root_way));
    memo.begin_pass(1);
    memo.find(first);
    const Way large = memo.extend(first, 7);
    memo.remember(large, children(10000));
    expect("what does not fit is not", !memo.find(large) && memo.find(first) && memo.bytes() <= 10000);
    memo.begin_pass(2);
    memo.find(first);
    memo.remember(large, children(450));
    expect("what the last passes did not ask for makes room", memo.find(large) && memo.find(first));
    expect("and is forgotten", !memo.find(root_way) && memo.bytes() <= 10000);
    for (uint32_t action = 0; action < 1000; action++) {
        memo.extend(memo.extend(root_way, 100 + action), action);
    }
    expect("ways take room, too", memo.bytes() <= 10000);
    memo.begin_pass(4);
    memo.remember(large, children(1));
    expect("the last pass adds nothing", memo.find(large)->size() == 450);
    ExpansionMemo<Terrain> none(1);
    none.remember(none.extend(root_way, 0), children(1));
    expect_equal("a single pass remembers nothing", none.bytes(), 0u);
}

}  // namespace

int main() {
    test_neither_memory_nor_hooks_make_a_difference();
    test_threads_make_no_difference();
    test_the_caller_is_asked_in_its_own_thread();
    test_errors_arrive_in_order();
    test_mb2fbs_remembers_too();
    test_memory_is_bounded();
    return failures == 0 ? 0 : 1;
}
