#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "search/random_search.h"
#include "search/search_result.h"
#include "search/spaces/optional_hooks.h"
#include "search/spaces/search_space.h"
#include "search/spaces/splitmix.h"
#include "search/spaces/walk.h"

namespace halidegym {

// What a vertex knows of the complete states found below it, and how to choose among its successors by that. A dead end
// is a state of infinite cost.
template <typename B>
concept Bandit = requires(const B &bandit, typename B::Rewards &rewards, const typename B::Rewards &others, double cost,
                          std::span<const typename B::Rewards *const> arms) {
    { bandit.no_rewards() } -> std::same_as<typename B::Rewards>;
    rewards.add(cost);
    rewards.add(others);
    { bandit.choose(arms) } -> std::same_as<size_t>;
};

struct GraphSearchOptions {
    bool merge = true;  // equal states are one vertex; if not, the graph is a tree
    uint32_t seed = 0;
};

// Grows a part of the graph of states, arrow by arrow (de Mesmay et al. 2009, section 3): descends from the root by a
// bandit until it meets an arrow not taken before, evaluates the vertex there by a random walk, and tells its
// ancestors. As costs are deterministic, a vertex all of whose successors are known completely is never entered again.
template <SearchSpace S, Bandit B>
class GraphSearch {
public:
    GraphSearch(S &space, B bandit, const GraphSearchOptions &options, const Budget &budget)
        : space_(space), bandit_(std::move(bandit)), merge_(options.merge), record_(budget), random_(options.seed),
          known_(0, Hash{&space}, Equal{&space}) {}

    SearchResult<typename S::State> run() {
        add_vertex(space_.root());
        evaluate(root, {});
        while (!graph_[root].exhausted && !is_over()) {
            auto [tail, actions] = descend();
            if (!graph_[tail].exhausted) {
                follow_arrow(tail, std::move(actions));
            }
        }
        if (!record_.has_found()) {
            throw exhausted<S>("no complete state is acceptable");
        }
        return record_.finish();
    }

private:
    using State = typename S::State;
    using Decision = typename S::Decision;
    using Rewards = typename B::Rewards;
    using VertexId = uint32_t;

    struct Arrow {
        uint32_t action;
        VertexId head;
    };

    struct Vertex {
        State state;
        Rewards rewards;
        std::vector<VertexId> tails{};                         // of the arrows that lead here
        std::vector<std::pair<uint32_t, Decision>> untaken{};  // actions and their decisions, once expanded
        std::vector<Arrow> taken{};
        bool expanded = false;
        bool exhausted = false;  // nothing new can be found below
    };

    struct Hash {
        S *space;
        size_t operator()(const State &state) const { return space->hash(state, std::numeric_limits<int>::max()); }
    };
    struct Equal {
        S *space;
        bool operator()(const State &a, const State &b) const { return space->equal(a, b); }
    };

    static constexpr VertexId root = 0;
    static constexpr int max_fruitless_walks = 1000;

    struct Descent {
        VertexId tail;
        std::vector<uint32_t> actions;
    };

    // To a vertex with an arrow not taken before, or to a dead end.
    Descent descend() {
        Descent descent{root, {}};
        for (expand(root); graph_[descent.tail].untaken.empty() && !graph_[descent.tail].exhausted;
             expand(descent.tail)) {
            const Arrow arrow = choose(graph_[descent.tail]);
            descent.actions.push_back(arrow.action);
            descent.tail = arrow.head;
        }
        return descent;
    }

    Arrow choose(const Vertex &vertex) const {
        std::vector<Arrow> open;
        std::vector<const Rewards *> arms;
        for (const Arrow &arrow : vertex.taken) {
            if (!graph_[arrow.head].exhausted) {
                open.push_back(arrow);
                arms.push_back(&graph_[arrow.head].rewards);
            }
        }
        return open[bandit_.choose(arms)];
    }

    void expand(VertexId id) {
        Vertex &vertex = graph_[id];
        if (vertex.expanded) {
            return;
        }
        vertex.expanded = true;
        record_.result.expansions++;
        auto children = space_.children(vertex.state);
        for (const Decision &decision : children.decisions()) {
            vertex.untaken.emplace_back(static_cast<uint32_t>(vertex.untaken.size()), decision);
        }
        close(id);
    }

    // All arrows not taken have the same, infinite weight: one of them at random.
    void follow_arrow(VertexId tail, std::vector<uint32_t> actions) {
        auto &untaken = graph_[tail].untaken;
        std::swap(untaken[uniform_below(random_, untaken.size())], untaken.back());
        const auto [action, decision] = untaken.back();
        untaken.pop_back();
        actions.push_back(action);
        State state = space_.apply(graph_[tail].state, decision);
        if (const std::optional<VertexId> head = find(state)) {
            link({action, *head}, tail);
        } else {
            const VertexId vertex = add_vertex(std::move(state));
            attach({action, vertex}, tail);
            evaluate(vertex, std::move(actions));
        }
        close(tail);
    }

    std::optional<VertexId> find(const State &state) const {
        const auto at = merge_ ? known_.find(state) : known_.end();
        return at == known_.end() ? std::nullopt : std::optional(at->second);
    }

    VertexId add_vertex(State state) {
        const auto id = static_cast<VertexId>(graph_.size());
        if (merge_) {
            known_.emplace(state, id);
        }
        graph_.push_back({.state = std::move(state), .rewards = bandit_.no_rewards()});
        return id;
    }

    void attach(Arrow arrow, VertexId tail) {
        graph_[tail].taken.push_back(arrow);
        graph_[arrow.head].tails.push_back(tail);
    }

    // A random walk tells what a vertex is worth.
    void evaluate(VertexId id, std::vector<uint32_t> actions) {
        Vertex &vertex = graph_[id];
        vertex.exhausted = space_.is_complete(vertex.state);
        double cost = std::numeric_limits<double>::infinity();
        if (auto found = random_rollout(space_, vertex.state, random_)) {
            cost = found->cost;
            record_.result.evaluations++;
            if (record_.would_keep(cost)) {
                auto [end, rest, _] = trace<S>(space_, vertex.state, found->decisions);
                actions.insert(actions.end(), rest.begin(), rest.end());
                record_.add({std::move(end), cost, std::move(actions)});
            }
        }
        for (const VertexId ancestor : with_ancestors(id)) {
            graph_[ancestor].rewards.add(cost);
        }
    }

    // A new way to a known vertex: its rewards go to those that are its ancestors only now.
    void link(Arrow arrow, VertexId tail) {
        const auto before = with_ancestors(arrow.head);
        attach(arrow, tail);
        for (const VertexId ancestor : with_ancestors(arrow.head)) {
            if (!before.contains(ancestor)) {
                graph_[ancestor].rewards.add(graph_[arrow.head].rewards);
            }
        }
    }

    std::unordered_set<VertexId> with_ancestors(VertexId id) const {
        std::unordered_set<VertexId> seen{id};
        std::vector<VertexId> pending{id};
        while (!pending.empty()) {
            const Vertex &vertex = graph_[pending.back()];
            pending.pop_back();
            for (const VertexId tail : vertex.tails) {
                if (seen.insert(tail).second) {
                    pending.push_back(tail);
                }
            }
        }
        return seen;
    }

    // Marks a vertex below which nothing new can be found, and what that exhausts above it.
    void close(VertexId id) {
        Vertex &vertex = graph_[id];
        const bool is_open =
            !vertex.untaken.empty() || std::any_of(vertex.taken.begin(), vertex.taken.end(),
                                                   [&](const Arrow &arrow) { return !graph_[arrow.head].exhausted; });
        if (is_open || vertex.exhausted) {
            return;
        }
        vertex.exhausted = true;
        for (const VertexId tail : vertex.tails) {
            close(tail);
        }
    }

    // A budget ends the search only once there is something to return.
    bool is_over() { return record_.has_found() ? !record_.may_continue(0, 0) : graph_.size() > max_fruitless_walks; }

    S &space_;
    const B bandit_;
    const bool merge_;
    SearchRecord<State> record_;
    std::mt19937_64 random_;
    std::deque<Vertex> graph_;  // references stay valid while it grows
    std::unordered_map<State, VertexId, Hash, Equal> known_;
};

}  // namespace halidegym
