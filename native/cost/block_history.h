#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cost/sites.h"
#include "nest/level.h"
#include "problem/problem.h"

namespace halidegym {

// Tells which blocks (root children) of a nest keep the rows that they had in the nest before. Nests that a search
// rates one after the other share most of theirs.
//
// The rows of a block depend on its own levels and on where its producers are: the storage layout of those outside of
// it, and the presumed sites of those not scheduled yet (docs/specification/schedule-features.md, section 7). What
// depends on more than that is not kept.
class BlockHistory {
public:
    explicit BlockHistory(const Problem &problem);

    // Moves on to the next nest, which is the one that `sites` was located in last.
    void advance(const Level &root, const Sites &sites);

    // By the position of the block in the nest.
    bool is_unchanged(int block) const { return unchanged_[static_cast<size_t>(block)] != 0; }

    // To be told of every block that has changed, by the stage it belongs to, once its rows are complete; and which
    // Funcs it reads, directly or through inlined ones, as one bit per node. A block that is left out, say because of
    // an exception, will not count as unchanged in the next nest.
    void finish(int stage, std::span<const uint64_t> producers);

private:
    // What other blocks see of a Func. The root counts as null, since each nest has its own.
    struct Placement {
        NodeSites::Status status = NodeSites::Status::Unscheduled;
        int storage_dim = -1;
        const Level *compute = nullptr;
        const Level *store = nullptr;
        bool operator==(const Placement &) const = default;
    };
    struct Block {
        LevelRef level;     // kept alive, so that no other level can take its address
        uint64_t nest = 0;  // number of the last nest that it had complete rows in
        std::vector<uint64_t> producers;
    };

    Placement placement(const Sites &sites, int node) const;
    bool is_moved(std::span<const uint64_t> nodes) const;

    uint64_t nest_ = 0;
    std::vector<Placement> placements_;  // by node
    std::vector<uint64_t> moved_;        // bit per node: placed in another way than in the nest before
    std::vector<Block> blocks_;          // by stage
    std::vector<uint8_t> unchanged_;     // by position
};

}  // namespace halidegym
