#include "state/decision_sizes.h"

#include <algorithm>
#include <array>

namespace halidegym {

DecisionSizes::DecisionSizes(Expansion &expansion, std::span<const Decision> decisions) {
    using Tuples = std::array<Extents, num_tuples>;
    std::vector<Tuples> tuples;
    tuples.reserve(decisions.size());
    codes.reserve(decisions.size() * num_codes);
    for (const Decision &decision : decisions) {
        constexpr int32_t none = -2;
        const Level *level = expansion.level(decision);
        codes.push_back(static_cast<int32_t>(decision.kind));
        codes.push_back(level != nullptr ? level->stage : none);
        codes.push_back(level != nullptr ? decision.depth : none);
        codes.push_back(level != nullptr ? decision.vector_dim : none);
        tuples.push_back({expansion.outer_tile(decision), expansion.inner_tile(decision), expansion.tasks(decision)});
        for (const Extents &tuple : tuples.back()) {
            loops = std::max(loops, tuple.size());
        }
    }
    sizes.resize(decisions.size() * num_tuples * static_cast<size_t>(loops));
    auto place = sizes.begin();
    for (const Tuples &own : tuples) {
        for (const Extents &tuple : own) {
            std::copy(tuple.begin(), tuple.end(), place);
            place += loops;
        }
    }
}

}  // namespace halidegym
