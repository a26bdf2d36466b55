#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "search/spaces/search_space.h"
#include "search/spaces/splitmix.h"

namespace halidegym {

// The decisions of a node of a search tree, in a list out of which they are drawn, each once.
template <SearchSpace S>
class Untried {
public:
    using Decision = typename S::Decision;

    Untried() = default;
    Untried(uint32_t node, typename S::Children children) : node_(node), children_(std::move(children)) {
        const auto decisions = children_->decisions();
        left_.assign(decisions.begin(), decisions.end());
    }

    bool is_of(uint32_t node) const { return node_ == node; }
    size_t size() const { return left_.size(); }

    std::optional<Decision> draw(SplitMix64 &random) {
        if (left_.empty()) {
            return std::nullopt;
        }
        Decision &drawn = left_[uniform_below(random, left_.size())];
        const Decision decision = std::exchange(drawn, left_.back());
        left_.pop_back();
        return decision;
    }

    // Where one of the decisions leads.
    typename S::State child(const Decision &decision) { return children_->child(decision); }

private:
    uint32_t node_ = std::numeric_limits<uint32_t>::max();
    std::optional<typename S::Children> children_;
    std::vector<Decision> left_;
};

}  // namespace halidegym
