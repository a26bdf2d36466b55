#include "state/state.h"

#include <algorithm>

#include "cost/limits.h"
#include "nest/edits.h"
#include "nest/hash.h"
#include "problem/error.h"

// Sections and quirks are those of docs/specification/search-space.md.

namespace halidegym {

namespace {

constexpr int max_rejections = 32;  // before the decisions are listed after all
constexpr Decision pass{.kind = Decision::Kind::Pass};

// Calls of a Func per iteration of each leaf that it would be inlined into, summed over the whole run, and the largest.
Expansion::InlineCalls count_inline_calls(const Problem &problem, const Level &level, const Node &func,
                                          int64_t instances) {
    Expansion::InlineCalls calls;
    if (level.innermost) {
        calls.largest = inline_multiplicity(problem, level, func);
        calls.total = calls.largest * instances;
    }
    for (const LevelRef &child : level.children) {
        if (child->called.contains(func.id)) {
            const auto inside = count_inline_calls(problem, *child, func, instances * child->size.product());
            calls.total += inside.total;
            calls.largest = std::max(calls.largest, inside.largest);
        }
    }
    return calls;
}

}  // namespace

State::State(SpaceRef space) : space_(std::move(space)), nest_(space_->empty_nest) {}

const Node &State::func_at(int num_decisions_made) const {
    const int n = space_->problem->num_nodes();
    const int id = space_->options.subtiling ? num_decisions_made / 2 : num_decisions_made % n;
    return space_->problem->nodes[static_cast<size_t>(id)];
}

Phase State::phase_at(int num_decisions_made) const {
    const int n = space_->problem->num_nodes();
    const int phase = space_->options.subtiling ? num_decisions_made % 2 : num_decisions_made / n;
    return phase == 0 ? Phase::Place : Phase::Parallelize;
}

State State::apply(const Decision &decision) const {
    return Expansion(*this, Expansion::Unlisted{}).child(decision);
}

State State::successor(const Decision &decision, LevelRef nest) && {
    nest_ = std::move(nest);
    last_step_ = std::allocate_shared<Step>(Recycling<Step>(), Step{decision, std::move(last_step_)});
    num_decisions_made_++;
    return std::move(*this);
}

State State::view() const {
    State view;
    view.space_ = {std::shared_ptr<void>(), space_.get()};
    view.nest_ = {std::shared_ptr<void>(), nest_.get()};
    view.last_step_ = {std::shared_ptr<void>(), last_step_.get()};
    view.num_decisions_made_ = num_decisions_made_;
    return view;
}

double State::cost(Evaluator &evaluator) const {
    const auto cost = evaluator.cost(nest_);
    if (!cost) {
        throw InternalError("a state of '" + space_->problem->name + "' exceeds a limit of its space");
    }
    return *cost;
}

std::vector<Decision> State::decisions_made() const {
    std::vector<Decision> decisions;
    for_each_decision_made([&](const Node &, Phase, const Decision &decision) { decisions.push_back(decision); });
    std::ranges::reverse(decisions);
    return decisions;
}

uint64_t State::hash(int depth) const {
    return structural_hash(*nest_, num_decisions_made_, depth);
}

Expansion::Expansion(State state, Unlisted unlisted) : state_(std::move(state)) {
    if (state_.is_complete()) {
        return;
    }
    const Node &func = state_.next_func();
    if (func.is_input) {
        return;
    }
    if (state_.next_phase() == Phase::Place) {
        placements_.emplace(state_.space(), *state_.nest(), func, unlisted.make);
    } else if (const Extents *trips = parallelizable_trips(*state_.space().problem, *state_.nest(), func)) {
        parallel_options_ = state_.space().tables->parallel_options(func, *trips);
        if (parallel_options_->all.empty()) {
            parallel_options_ = nullptr;
        }
    }
}

Expansion::Expansion(State state) : Expansion(std::move(state), Unlisted{}) {
    all();
}

Expansion::Expansion(State state, NestMaker &make) : Expansion(std::move(state), Unlisted{&make}) {
    all();
}

void Expansion::enumerate() {
    is_listed_ = true;
    if (placements_) {
        enumerate_placements();
    } else if (!parallel_options_) {
        decisions_.push_back(pass);
    } else {
        enumerate_parallel_options();
    }
}

std::span<const Decision> Expansion::all() {
    if (!is_listed_ && !state_.is_complete()) {
        enumerate();
    }
    return decisions_;
}

std::optional<Decision> Expansion::draw(const UniformBelow &below) {
    const auto pick = [&](size_t count) { return count > 1 ? below(count) : 0; };
    if (is_easy()) {
        const bool inlinable = may_inline();
        if (inlinable && inlining_is_forced()) {
            return Decision{.kind = Decision::Kind::Inline};
        }
        // Rejecting what is not legal leaves the legal ones equally likely, and so does listing them in the end.
        const int64_t others = placements_->num_candidates();
        for (int attempt = 0; attempt < max_rejections; attempt++) {
            const auto drawn = static_cast<int64_t>(below(static_cast<uint64_t>(others + (inlinable ? 1 : 0))));
            if (drawn == others) {
                return Decision{.kind = Decision::Kind::Inline};
            }
            if (const auto decision = placements_->option(drawn)) {
                return decision;
            }
        }
    }
    if (has_even_options_alone()) {
        return Decision{.kind = Decision::Kind::Parallelize,
                        .tile = static_cast<uint32_t>(pick(parallel_options_->num_even))};
    }
    if (can_only_pass()) {
        return pass;
    }
    const auto decisions = all();
    return decisions.empty() ? std::nullopt : std::optional(decisions[pick(decisions.size())]);
}

std::optional<State> Expansion::child_if_legal(const State &state, const Decision &decision) {
    if (state.is_complete()) {
        return std::nullopt;
    }
    Expansion expansion(state, Unlisted{});
    return expansion.is_legal(decision) ? std::optional(expansion.child(decision)) : std::nullopt;
}

std::optional<Decision> Expansion::only_decision(const State &state) {
    if (state.is_complete()) {
        return std::nullopt;
    }
    Expansion expansion(state.view(), Unlisted{});
    if (expansion.is_easy()) {
        const bool inlinable = expansion.may_inline();
        if (inlinable && expansion.inlining_is_forced()) {
            return Decision{.kind = Decision::Kind::Inline};
        }
        if (expansion.placements_->has_obvious_choice(inlinable ? 1 : 2)) {
            return std::nullopt;
        }
    }
    if (expansion.can_only_pass()) {
        return pass;
    }
    const auto decisions = expansion.all();
    return decisions.size() == 1 ? std::optional(decisions.front()) : std::nullopt;
}

bool Expansion::is_legal(const Decision &decision) {
    if (has_even_options_alone()) {
        return decision.kind == Decision::Kind::Parallelize && decision.tile < parallel_options_->num_even &&
               decision == Decision{.kind = Decision::Kind::Parallelize, .tile = decision.tile};
    }
    if (can_only_pass()) {
        return decision == pass;
    }
    if (!placements_) {
        return std::ranges::find(all(), decision) != all().end();
    }
    const bool is_inlining = decision.kind == Decision::Kind::Inline;
    if ((is_inlining || inlining_is_forced()) && may_inline()) {
        return is_inlining;
    }
    return decision.is_placement() && placements_->has_option(decision) && (is_easy() || is_accepted(decision));
}

void Expansion::enumerate_placements() {
    if (may_inline()) {
        decisions_.push_back({.kind = Decision::Kind::Inline});
        if (inlining_is_forced()) {
            return;
        }
    }
    decisions_ = placements_->enumerate(std::move(decisions_));
    if (state_.space().options.memory_limit >= 0) {
        std::erase_if(decisions_,
                      [&](const Decision &decision) { return decision.is_placement() && !is_accepted(decision); });
    }
}

void Expansion::enumerate_parallel_options() {
    const bool must_test = !has_even_options_alone();
    for (size_t i = 0; i < parallel_options_->all.size(); i++) {
        if (!decisions_.empty() && (i >= parallel_options_->num_even || !state_.space().options.subtiling)) {
            break;
        }
        const Decision decision{.kind = Decision::Kind::Parallelize, .tile = static_cast<uint32_t>(i)};
        if (!must_test || is_accepted(decision)) {
            decisions_.push_back(decision);
        }
    }
}

// With subtiling nothing is inside the Func's loops yet, so that cutting them changes nothing that acceptance looks at.
bool Expansion::has_even_options_alone() const {
    const SpaceOptions &options = state_.space().options;
    return parallel_options_ && options.subtiling && options.memory_limit < 0;
}

bool Expansion::may_inline() {
    if (!may_inline_) {
        may_inline_ = find_may_inline();
    }
    return *may_inline_;
}

bool Expansion::find_may_inline() {
    const Node &func = state_.next_func();
    return func.num_stages == 1 && !func.is_output && inlining_is_accepted();
}

bool Expansion::inlining_is_accepted() {
    const Space &space = state_.space();
    const Node &func = state_.next_func();
    const InlineCalls &calls = inline_calls();
    if (calls.largest > max_inlined_calls ||
        static_cast<double>(calls.total) > space.points_limit[static_cast<size_t>(func.first_stage)]) {
        return false;
    }
    if (space.options.memory_limit < 0) {
        return true;
    }
    return is_accepted({.kind = Decision::Kind::Inline});
}

// A pointwise Func between pointwise ones is always inlined (section 7.3, rule 2).
bool Expansion::inlining_is_forced() const {
    const Problem &problem = *state_.space().problem;
    const Node &func = state_.next_func();
    if (!func.is_pointwise || func.outgoing.size() != 1) {
        return false;
    }
    for (const int e : problem.stage(func, 0).incoming) {
        const Edge &edge = problem.edges[static_cast<size_t>(e)];
        if (!problem.nodes[static_cast<size_t>(edge.producer)].is_pointwise) {
            return false;
        }
    }
    const Edge &only = problem.edges[static_cast<size_t>(func.outgoing.front())];
    const Node &consumer = problem.node_of(problem.stages[static_cast<size_t>(only.consumer_stage)]);
    return consumer.is_pointwise || consumer.is_boundary_condition;
}

bool Expansion::is_accepted(const Decision &decision) {
    if (!judge_) {
        judge_ = std::make_unique<Judge>(state_.space_ref());
    }
    judge_->bench.clear();
    return judge_->evaluator.accepts_child(state_.nest(), *child_nest(judge_->bench, decision));
}

State Expansion::child(const Decision &decision) {
    LastingNests lasting;
    return State(state_).successor(decision, child_nest(lasting, decision));
}

LevelRef Expansion::child_nest(NestMaker &make, const Decision &decision) {
    const Space &space = state_.space();
    const Problem &problem = *space.problem;
    switch (decision.kind) {
    case Decision::Kind::Pass:
        return state_.nest();
    case Decision::Kind::Inline:
        return inline_func(make, problem, *state_.nest(), state_.next_func());
    case Decision::Kind::Parallelize:
        return apply_parallel(make, problem, *state_.nest(), state_.next_func(), parallel_option(decision),
                              space.options.subtiling);
    default:
        return placements_.value().build(make, decision);
    }
}

const ParallelOption &Expansion::parallel_option(const Decision &decision) const {
    if (!parallel_options_ || decision.tile >= parallel_options_->all.size()) {
        throw InvalidParameter("Func '" + state_.next_func().name + "' has no parallel option " +
                               std::to_string(decision.tile) + "; take decisions from the state they belong to");
    }
    return parallel_options_->all[decision.tile];
}

Extents Expansion::outer_tile(const Decision &decision) {
    switch (decision.kind) {
    case Decision::Kind::ComputeAtTile:
    case Decision::Kind::StoreAtTile:
    case Decision::Kind::StoreAtTileSplit:
        return placements_.value().outer_tile(decision);
    default:
        return {};
    }
}

Extents Expansion::inner_tile(const Decision &decision) {
    switch (decision.kind) {
    case Decision::Kind::StoreAtTileSplit:
    case Decision::Kind::StoreAtLevelSplit:
        return placements_.value().inner_tile(decision);
    default:
        return {};
    }
}

Extents Expansion::tasks(const Decision &decision) const {
    return decision.kind == Decision::Kind::Parallelize ? parallel_option(decision).tasks : Extents{};
}

const Expansion::InlineCalls &Expansion::inline_calls() {
    if (!inline_calls_) {
        const auto [level, instances] = placements_.value().body_with_all_calls();
        inline_calls_ = count_inline_calls(*state_.space().problem, level, state_.next_func(), instances);
    }
    return *inline_calls_;
}

const Level *Expansion::level(const Decision &decision) {
    switch (decision.kind) {
    case Decision::Kind::Pass:
    case Decision::Kind::Inline:
    case Decision::Kind::Parallelize:
        return nullptr;
    default:
        return &placements_.value().level(decision.depth);
    }
}

}  // namespace halidegym
