#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

namespace halidegym {

// What a planner needs to know of a space. Every planner is written once against this concept.
//
// State     an immutable value; copies share structure.
// Decision  a small value that identifies one child of the state it belongs to.
// Children  the legal decisions of one state, in a fixed order, and the children, built one at a time. Those that
//           one copy of the space made can be given to another one, in another thread.
template <typename S>
concept SearchSpace = requires(S &space, const typename S::State &state, const typename S::Decision &decision,
                               typename S::Children &children, int depth) {
    { space.root() } -> std::same_as<typename S::State>;
    { space.is_complete(state) } -> std::convertible_to<bool>;
    { space.depth(state) } -> std::convertible_to<int>;
    { space.max_depth() } -> std::convertible_to<int>;
    { space.children(state) } -> std::same_as<typename S::Children>;
    { children.decisions() } -> std::convertible_to<std::span<const typename S::Decision>>;
    { children.child(decision) } -> std::same_as<typename S::State>;
    { space.apply(state, decision) } -> std::same_as<typename S::State>;
    // Whether a decision changes nothing that the cost depends on: its child inherits the cost of its parent.
    { space.inherits_cost(decision) } -> std::convertible_to<bool>;
    // Empty if the state is not acceptable after all.
    { space.cost(state) } -> std::same_as<std::optional<double>>;
    { space.hash(state, depth) } -> std::same_as<uint64_t>;
    // Whether two states have the same future: equal children and equal costs. Equal states have equal hashes.
    { space.equal(state, state) } -> std::convertible_to<bool>;
    // A space may hold working memory: each thread needs a copy of its own.
    requires std::copy_constructible<S>;
};

}  // namespace halidegym
