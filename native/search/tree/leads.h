#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace halidegym {

// The complete states that simulations of a tree followed, one after another, each as the decisions from the root. All
// are kept, so that every simulation can be repeated from its number.
template <typename Decision>
class Leads {
public:
    // Of the last one; infinite if there is none.
    double cost() const { return cost_; }

    // From the simulation of this number on, a state of this cost is followed.
    void follow(uint64_t first, std::vector<Decision> decisions, double cost) {
        leads_.push_back({first, std::move(decisions)});
        cost_ = cost;
    }

    // What the simulation of this number follows after so many decisions from the root.
    std::span<const Decision> of(uint64_t number, size_t depth) const {
        const auto after = std::upper_bound(leads_.begin(), leads_.end(), number,
                                            [](uint64_t value, const Lead &lead) { return value < lead.first; });
        if (after == leads_.begin()) {
            return {};
        }
        const std::span<const Decision> decisions = std::prev(after)->decisions;
        return decisions.subspan(std::min(depth, decisions.size()));
    }

    // The root moves down by so many decisions.
    void move_root(size_t count) {
        for (Lead &lead : leads_) {
            const auto begin = lead.decisions.begin();
            lead.decisions.erase(begin, begin + static_cast<ptrdiff_t>(std::min(count, lead.decisions.size())));
        }
    }

private:
    struct Lead {
        uint64_t first;
        std::vector<Decision> decisions;
    };

    std::vector<Lead> leads_;
    double cost_ = std::numeric_limits<double>::infinity();
};

}  // namespace halidegym
