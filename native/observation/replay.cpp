#include "observation/replay.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include "observation/state_row.h"
#include "problem/error.h"

namespace halidegym {

namespace {

void check(const ReplayOptions &options) {
    if (options.candidates < 1 || options.loops < 1 || options.loops > max_loops) {
        throw InvalidParameter("candidates=" + std::to_string(options.candidates) +
                               " and loops=" + std::to_string(options.loops) +
                               ": give at least 1 candidate, and 1 to " + std::to_string(max_loops) + " loops");
    }
    if (!(options.reference_cost > 0)) {
        throw InvalidParameter("reference_cost=" + std::to_string(options.reference_cost) +
                               ": costs are divided by it; give a positive one");
    }
}

size_t checked_action(int64_t action, size_t count, int depth) {
    if (action < 0 || static_cast<size_t>(action) >= count) {
        throw InvalidParameter("action " + std::to_string(depth) + " is " + std::to_string(action) +
                               ", but the state there has " + std::to_string(count) +
                               " legal decisions; give the actions of a plan of this problem, rules included");
    }
    return static_cast<size_t>(action);
}

// Indices below `count`, ascending: those kept, and others drawn without repetition. Goes through all and takes each
// with the probability that as many as needed are found among those left (Knuth, algorithm S).
std::vector<size_t> draw_indices(size_t count, size_t most, const std::set<size_t> &kept,
                                 const Expansion::UniformBelow &below) {
    std::vector<size_t> drawn;
    size_t wanted = std::max(std::min(most, count), kept.size()) - kept.size();
    size_t left = count - kept.size();
    for (size_t i = 0; i < count; i++) {
        if (kept.contains(i)) {
            drawn.push_back(i);
            continue;
        }
        if (wanted == left || (wanted > 0 && below(left) < wanted)) {
            drawn.push_back(i);
            wanted--;
        }
        left--;
    }
    return drawn;
}

std::set<size_t> kept_indices(const ReplayOptions &options, size_t depth, size_t taken, size_t count) {
    std::set<size_t> kept{taken};
    if (depth < options.shown.size()) {
        for (const int64_t index : options.shown[depth]) {
            kept.insert(checked_action(index, count, static_cast<int>(depth)));
        }
    }
    return kept;
}

template <typename T>
void append(std::vector<T> &all, const std::vector<T> &more) {
    all.insert(all.end(), more.begin(), more.end());
}

class Recorder {
public:
    Recorder(const SpaceRef &space, const ReplayOptions &options) : options_(options) {
        if (options.child_features) {
            reader_.emplace(space);
        }
    }

    void add(Expansion &expansion, std::span<const size_t> shown, size_t taken) {
        const StateRow state(expansion.state());
        result.deciding.insert(result.deciding.end(), {state.first_stage, state.num_stages});
        result.phase.push_back(static_cast<int8_t>(state.phase));
        result.decided.push_back(state.decided);
        append(result.places, state.places);
        result.num_legal.push_back(static_cast<int32_t>(expansion.decisions().size()));
        result.taken.push_back(static_cast<int32_t>(std::ranges::find(shown, taken) - shown.begin()));
        result.offsets.push_back(result.offsets.back() + static_cast<int32_t>(shown.size()));
        std::ranges::transform(shown, std::back_inserter(result.indices),
                               [](size_t i) { return static_cast<int32_t>(i); });

        decisions_.clear();
        for (const size_t index : shown) {
            decisions_.push_back(expansion.decisions()[index]);
        }
        rows_.describe(expansion, decisions_, options_.loops);
        append(result.decisions.rows, rows_.rows);
        append(result.decisions.stages, rows_.stages);
        if (reader_) {
            const ChildRows children = reader_->read(expansion, decisions_, options_.reference_cost);
            append(result.children.rows, children.rows);
            append(result.children.costs, children.costs);
        }
    }

    ReplayRows result;

private:
    const ReplayOptions &options_;
    std::optional<ChildReader> reader_;
    std::vector<Decision> decisions_;
    DecisionRows rows_;
};

}  // namespace

ReplayRows replay(const SpaceRef &space, std::span<const int64_t> actions, const ReplayOptions &options,
                  const Expansion::UniformBelow &below) {
    check(options);
    Recorder recorder(space, options);
    Workbench bench;
    State state(space);
    for (const int64_t action : actions) {
        bench.clear();
        Expansion expansion(state, bench);
        const size_t count = expansion.decisions().size();
        const size_t taken = checked_action(action, count, state.num_decisions_made());
        if (count > 1) {
            const auto kept = kept_indices(options, static_cast<size_t>(state.num_decisions_made()), taken, count);
            recorder.add(expansion, draw_indices(count, static_cast<size_t>(options.candidates), kept, below), taken);
        }
        state = state.apply(expansion.decisions()[taken]);
    }
    return std::move(recorder.result);
}

}  // namespace halidegym
