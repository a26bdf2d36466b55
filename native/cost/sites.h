#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cost/marked.h"
#include "nest/level.h"
#include "problem/problem.h"

namespace halidegym {

// Sections and quirks are those of docs/specification/schedule-features.md.

// One level of a nest: its place in it, and how often it runs (section 3.1).
struct NestLevel {
    const Level *level = nullptr;
    int parent = -1;  // position of the parent, -1 for the root
    int end = 0;      // position after its last descendant
    int depth = 0;    // distance from the root
    int block = -1;   // position of the root child that it lies in or is, -1 for the root
    int twin = -1;    // of a nest by itself the same position; else that of the parent's level that it copies, or -1
    int64_t trips = 1;
    int64_t instances = 1;  // how often it is entered
    int64_t tasks = 1;
    int64_t outer_parallelism = 1;  // product of the tasks of all levels around it

    // How often its body runs.
    int64_t iterations() const { return instances * trips; }
};

// Where a Func lives (section 2). Levels are given by their position in Sites::levels(), the root being 0.
struct NodeSites {
    enum class Status : uint8_t { Input, Unscheduled, Inlined, Realized };
    Status status = Status::Unscheduled;
    int compute = -1;
    int store = -1;
    int storage_dim = -1;  // innermost storage dimension, -1 while the layout is open

    bool is_scheduled() const { return status == Status::Inlined || status == Status::Realized; }
    bool has_layout() const { return storage_dim >= 0; }
    bool operator==(const NodeSites &) const = default;
};

// The outermost and the innermost level of a stage; -1 if it is not scheduled. An inlined Func has its consumer's
// innermost level for both.
struct StageSites {
    int produce = -1;
    int innermost = -1;
};

// The levels of a nest, and the sites of every Func and stage in it, for the Funcs that are not scheduled yet the
// presumed ones.
//
// Siblings share most of their levels with their parent. So a nest can be located as a child of the one before, its
// parent: only levels that the parent does not have are visited, and those that lie in other surroundings than there.
// They come after all levels of the parent, and the sites of what is in them are replaced, until the next child brings
// the parent's back. A level of the parent of which the child has an edited copy is replaced by that.
class Sites {
public:
    explicit Sites(const Problem &problem);

    // A nest by itself: levels are depth-first, children in list order. It must stay alive.
    void locate(const Level &root);

    // A child of the nest located last: what the edits of one decision make of it.
    void locate_child(const Level &root);

    const NestLevel &level(int position) const { return levels_[static_cast<size_t>(position)]; }
    const NodeSites &of_node(int node) const { return nodes_[static_cast<size_t>(node)]; }
    const StageSites &of_stage(int stage) const { return stages_[static_cast<size_t>(stage)]; }
    // In the parent.
    const NodeSites &parents_of_node(int node) const { return parents_nodes_[static_cast<size_t>(node)]; }
    const StageSites &parents_of_stage(int stage) const { return parents_stages_[static_cast<size_t>(stage)]; }
    // Sites that stayed may lie at levels that were replaced, whose bodies are the same but for what is stored there:
    // the level of the child in place of that at this position.
    int current(int position) const {
        const int edited = replaced_by_[static_cast<size_t>(position)];
        return edited >= 0 ? edited : position;
    }
    // Whether the same happens in the bodies of two levels, as often.
    bool is_same_body(int a, int b) const {
        const NestLevel &x = level(a);
        const NestLevel &y = level(b);
        return a == b || (x.level->regions == y.level->regions && x.instances == y.instances && x.trips == y.trips);
    }

    // Positions of the levels visited last: all but the root, or those of a child.
    int begin() const { return begin_; }
    int end() const { return static_cast<int>(levels_.size()); }
    // Levels of the parent that stay, with all levels inside of them, in the body of one that was visited.
    struct Kept {
        int position;
        int parent;
    };
    std::span<const Kept> kept() const { return kept_; }
    // Blocks of the parent in whose place others were visited.
    std::span<const int> replaced_blocks() const { return replaced_blocks_; }
    // Funcs and stages whose sites differ from those in the parent, at least in their positions.
    std::span<const int> nodes() const { return changed_nodes_.members(); }
    std::span<const int> stages() const { return changed_stages_.members(); }
    // The most calls of a Func that is inlined into one leaf.
    int64_t most_inlined_calls() const { return most_inlined_calls_; }

private:
    void forget();
    void visit(const Level &level, int parent, int twin);
    void visit_children(int position, int twin, bool is_edited);
    NestLevel &add(const Level &level, int parent);
    bool is_in_same_surroundings(int position, int twin) const;
    void settle(const Level &level, int position);
    NodeSites &change_node(int node);
    StageSites &change_stage(int stage);
    int64_t tasks(const Level &level) const;
    void find_sources();
    void find_what_matters();
    void presume_sites();
    int presumed_site(int node) const;
    void ask_producers(int node);
    int meet(int a, int b) const;
    int parent(int position) const { return current(level(position).parent); }
    // One of the sets by node.
    std::span<uint64_t> set_of(std::vector<uint64_t> &sets, int node) const {
        return {sets.data() + static_cast<size_t>(node) * num_words_, num_words_};
    }

    // A stage of a Func that reads another one.
    struct Consumer {
        int stage;
        int node;
    };
    // What the presumed site of a Func follows from: its consumers, but for those whose own site is sure to be that of
    // one of theirs, in whose place that one stands.
    struct Sources {
        std::vector<Consumer> consumers;
        bool are_one = false;
    };

    const Problem &problem_;
    size_t num_words_;              // of node_bits
    std::vector<Sources> sources_;  // by node, of those that are not scheduled
    std::vector<uint64_t> asked_;   // by node: of which it is a source, if rows of a child can depend on them
    std::vector<NestLevel> levels_;
    std::vector<NodeSites> nodes_, parents_nodes_;
    std::vector<StageSites> stages_, parents_stages_;
    const Level *root_ = nullptr;
    std::vector<int> blocks_;  // of the parent; positions
    int num_parents_levels_ = 0;

    int begin_ = 0;
    std::vector<int> replaced_by_;  // by position in the parent, -1 where nothing is replaced
    std::vector<int> replaced_, replaced_blocks_;
    std::vector<Kept> kept_;
    MarkedSet changed_nodes_, changed_stages_;
    std::vector<uint64_t> to_presume_;  // node_bits
    std::vector<uint64_t> matter_;      // node_bits, while what is asked is found
    int64_t most_inlined_calls_ = 0;
    int64_t parents_most_inlined_calls_ = 0;
};

}  // namespace halidegym
