#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "transform/tables.h"

namespace halidegym {

struct Derivation;
using DerivationRef = std::shared_ptr<const Derivation>;

// A plan some of whose problems are still open: an immutable tree, which shares what a decision leaves as it is with
// the tree before it.
struct Derivation {
    static constexpr uint16_t undecided = 0xffff;

    ProblemId problem;
    uint16_t choice = undecided;  // its place among those of the problem
    uint16_t num_decided = 0;     // steps in this tree
    uint16_t num_open = 1;        // problems
    uint16_t height = 0;
    uint32_t num_decisions = 0;  // about all open problems
    uint64_t hash = 0;
    PlanCost cost{};  // with the fallback for what is open
    std::array<DerivationRef, 2> subs{};

    bool is_open() const { return choice == undecided; }
};

// Equal steps in equal places.
bool equal(const DerivationRef &a, const DerivationRef &b);

// Looks so many steps below the first.
uint64_t structural_hash(const Derivation &tree, int depth);

// Makes derivations from tables, which must outlive it.
class DerivationMaker {
public:
    explicit DerivationMaker(const TransformTables &tables);

    // About which nothing is decided.
    const DerivationRef &open(ProblemId id) const { return open_[id]; }
    // With this choice, and these trees below it.
    DerivationRef decided(ProblemId id, uint32_t choice, std::array<DerivationRef, 2> subs) const;

    // A choice for one of the open problems, which are counted from the left.
    DerivationRef derive(const DerivationRef &tree, uint32_t open, uint32_t choice) const;
    // What the tree would cost then.
    PlanCost cost_after(const Derivation &tree, uint32_t open, uint32_t choice) const;

    // Null where a problem is open.
    PlanNodeRef plan_of(const Derivation &tree) const;
    // Throws InvalidParameter if a step of the plan is none of the space.
    DerivationRef derivation_of(ProblemId id, const PlanNode *plan) const;
    // With the fallback for what is open.
    PlanNodeRef completed(const Derivation &tree) const;

private:
    template <typename Leaf>
    PlanNodeRef convert(const Derivation &tree, const Leaf &leaf) const;

    const TransformTables &tables_;
    std::vector<DerivationRef> open_;
};

// One of the open problems, counted from the left.
const Derivation &open_problem(const Derivation &tree, uint32_t open);

}  // namespace halidegym
