#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "search/spaces/search_space.h"
#include "search/visited.h"

namespace halidegym {

// What the passes of a search from coarse to fine know of each other (docs/specification/search-and-cost-model.md,
// sections 2.5 and 2.7).
// States are compared by a structural hash that looks one level deeper in every pass. States that resemble another one
// of their level, or no good state of the pass before, are penalized.
template <SearchSpace S>
class CoarseToFine {
public:
    using State = typename S::State;

    // A search of one pass compares nothing.
    CoarseToFine(S &space, bool compares) : space_(space), compares_(compares) {}

    // Which states were seen is forgotten: a level of a beam, or an iteration.
    void begin_level() { seen_.clear(); }

    // Multiplies the cost of a child by its penalty, once. Returns whether there was any. `hash` is that of the child,
    // at a depth.
    template <typename Hash>
    bool penalize(QueuedChild<S> &child, const Hash &hash, int pass) {
        if (!compares_ || child.penalized) {
            return false;
        }
        int penalty = ++seen_[hash(pass + 1)];
        if (pass > 0 && !welcome_.contains(hash(pass - 1))) {
            penalty += 10;
        }
        if (penalty == 1) {
            return false;
        }
        child.penalized = true;
        child.cost *= penalty;
        return true;
    }

    // Complete states up to this cost, if the best one costs so much, make what resembles them welcome in the next
    // pass.
    static double worst_welcome(double best) { return 1.2 * best; }
    void welcome(const VisitedRef<State> &complete, int pass) {
        for (const Visited<State> *ancestor = complete.get(); ancestor; ancestor = ancestor->parent.get()) {
            welcome_.insert(space_.hash(ancestor->state, pass));
        }
    }

private:
    S &space_;
    const bool compares_;
    std::unordered_map<uint64_t, int> seen_;
    std::unordered_set<uint64_t> welcome_;  // hashes at the depth of the pass
};

}  // namespace halidegym
