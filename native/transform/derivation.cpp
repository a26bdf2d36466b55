#include "transform/derivation.h"

#include <algorithm>
#include <utility>

#include "problem/error.h"

namespace halidegym {

namespace {

constexpr uint64_t hash_of_open = 0x9e3779b97f4a7c15u;

uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0xbf58476d1ce4e5b9u;
    return hash ^ (hash >> 29);
}

uint64_t hash_of(uint16_t choice, uint64_t first, uint64_t second) {
    return mix(mix(mix(hash_of_open, choice), first), second);
}

// The tree below which an open problem lies, and its number there.
size_t descend(const Derivation &tree, uint32_t &open) {
    if (open < tree.subs[0]->num_open) {
        return 0;
    }
    open -= tree.subs[0]->num_open;
    return 1;
}

}  // namespace

bool equal(const DerivationRef &a, const DerivationRef &b) {
    if (a == b) {
        return true;
    }
    return a && b && a->hash == b->hash && a->choice == b->choice && a->problem == b->problem &&
           equal(a->subs[0], b->subs[0]) && equal(a->subs[1], b->subs[1]);
}

uint64_t structural_hash(const Derivation &tree, int depth) {
    if (tree.is_open() || depth >= tree.height) {
        return tree.hash;
    }
    if (depth <= 0) {
        return hash_of(tree.choice, 0, 0);
    }
    const auto of_sub = [&](const DerivationRef &sub) { return sub ? structural_hash(*sub, depth - 1) : 0; };
    return hash_of(tree.choice, of_sub(tree.subs[0]), of_sub(tree.subs[1]));
}

const Derivation &open_problem(const Derivation &tree, uint32_t open) {
    const Derivation *at = &tree;
    while (!at->is_open()) {
        at = at->subs[descend(*at, open)].get();
    }
    return *at;
}

DerivationMaker::DerivationMaker(const TransformTables &tables) : tables_(tables) {
    const StepClosure &closure = tables.closure();
    open_.reserve(closure.num_problems());
    for (ProblemId id = 0; id < closure.num_problems(); id++) {
        open_.push_back(std::make_shared<const Derivation>(
            Derivation{.problem = id,
                       .num_decisions = static_cast<uint32_t>(closure.choices(id).size()),
                       .hash = hash_of_open,
                       .cost = tables.fallback_cost(id)}));
    }
}

DerivationRef DerivationMaker::decided(ProblemId id, uint32_t choice, std::array<DerivationRef, 2> subs) const {
    const StepChoice &taken = tables_.closure().choices(id)[choice];
    auto made = std::make_shared<Derivation>(Derivation{.problem = id, .choice = static_cast<uint16_t>(choice)});
    made->num_decided = 1;
    made->num_open = 0;
    std::array<PlanCost, 2> costs;
    std::array<uint64_t, 2> hashes{};
    for (size_t i = 0; i < taken.num_subs(); i++) {
        const Derivation &sub = *subs[i];
        made->num_decided = static_cast<uint16_t>(made->num_decided + sub.num_decided);
        made->num_open = static_cast<uint16_t>(made->num_open + sub.num_open);
        made->num_decisions += sub.num_decisions;
        made->height = std::max(made->height, static_cast<uint16_t>(sub.height + 1));
        costs[i] = sub.cost;
        hashes[i] = sub.hash;
    }
    made->hash = hash_of(made->choice, hashes[0], hashes[1]);
    made->cost = tables_.cost_of(id, taken, costs);
    made->subs = std::move(subs);
    return made;
}

DerivationRef DerivationMaker::derive(const DerivationRef &tree, uint32_t open, uint32_t choice) const {
    std::array<DerivationRef, 2> subs;
    if (tree->is_open()) {
        const StepChoice &taken = tables_.closure().choices(tree->problem)[choice];
        for (size_t i = 0; i < taken.num_subs(); i++) {
            subs[i] = open_[taken.subs[i]];
        }
        return decided(tree->problem, choice, std::move(subs));
    }
    subs = tree->subs;
    const size_t below = descend(*tree, open);
    subs[below] = derive(subs[below], open, choice);
    return decided(tree->problem, tree->choice, std::move(subs));
}

PlanCost DerivationMaker::cost_after(const Derivation &tree, uint32_t open, uint32_t choice) const {
    std::array<PlanCost, 2> costs;
    if (tree.is_open()) {
        const StepChoice &taken = tables_.closure().choices(tree.problem)[choice];
        for (size_t i = 0; i < taken.num_subs(); i++) {
            costs[i] = tables_.fallback_cost(taken.subs[i]);
        }
        return tables_.cost_of(tree.problem, taken, costs);
    }
    const size_t below = descend(tree, open);
    for (size_t i = 0; i < 2 && tree.subs[i]; i++) {
        costs[i] = i == below ? cost_after(*tree.subs[i], open, choice) : tree.subs[i]->cost;
    }
    return tables_.cost_of(tree.problem, tables_.closure().choices(tree.problem)[tree.choice], costs);
}

template <typename Leaf>
PlanNodeRef DerivationMaker::convert(const Derivation &tree, const Leaf &leaf) const {
    if (tree.is_open()) {
        return leaf(tree.problem);
    }
    PlanNode node{tables_.closure().choices(tree.problem)[tree.choice].step, nullptr, nullptr};
    if (tree.subs[0]) {
        node.first = convert(*tree.subs[0], leaf);
    }
    if (tree.subs[1]) {
        node.second = convert(*tree.subs[1], leaf);
    }
    return std::make_shared<const PlanNode>(std::move(node));
}

PlanNodeRef DerivationMaker::plan_of(const Derivation &tree) const {
    return convert(tree, [](ProblemId) { return PlanNodeRef(); });
}

PlanNodeRef DerivationMaker::completed(const Derivation &tree) const {
    return convert(tree, [&](ProblemId id) { return tables_.fallback_plan(id); });
}

DerivationRef DerivationMaker::derivation_of(ProblemId id, const PlanNode *plan) const {
    if (!plan) {
        return open_[id];
    }
    const auto choices = tables_.closure().choices(id);
    const auto found = std::ranges::find(choices, plan->step, &StepChoice::step);
    if (found == choices.end()) {
        throw InvalidParameter(to_string(plan->step) + " is no step of this space for the problem " +
                               to_string(tables_.closure().problem(id)) + "; it has " +
                               to_string(steps_of(tables_.closure().problem(id), tables_.closure().rules())));
    }
    std::array<DerivationRef, 2> subs;
    const std::array children{plan->first.get(), plan->second.get()};
    for (size_t i = 0; i < found->num_subs(); i++) {
        subs[i] = derivation_of(found->subs[i], children[i]);
    }
    return decided(id, static_cast<uint32_t>(found - choices.begin()), std::move(subs));
}

}  // namespace halidegym
