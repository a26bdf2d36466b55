#include "cost/load_analysis.h"

#include <algorithm>
#include <bit>
#include <utility>

// Sections and quirks are those of docs/specification/schedule-features.md.

namespace halidegym {

namespace {

double amortized(const Load &load, const Extents *unrolled) {
    if (unrolled == nullptr) return static_cast<double>(load.count);
    int64_t reuse = 1;
    for (uint32_t loops = load.invariant_loops; loops != 0; loops &= loops - 1) {
        reuse *= (*unrolled)[std::countr_zero(loops)];
    }
    return static_cast<double>(load.count) / static_cast<double>(reuse);
}

// Without a layout the best one is assumed: storage that is innermost along the longest dimension.
Footprint footprint_of(std::span<const Span> region, int64_t bytes_per_point, int storage_dim) {
    int64_t volume = 1;
    int64_t longest = 1;
    int64_t lines = 1;
    for (size_t d = 0; d < region.size(); d++) {
        const int64_t extent = region[d].extent();
        volume *= extent;
        longest = std::max(longest, extent);
        if (static_cast<int>(d) != storage_dim) lines *= extent;
    }
    return {.bytes = bytes_per_point * volume, .lines = storage_dim >= 0 ? lines : volume / longest};
}

}  // namespace

LoadAnalysis::LoadAnalysis(const FeatureConstants &constants, const Sites &sites)
    : problem_(constants.problem), sites_(sites), table_(problem_, constants.loads), bounds_(problem_),
      visited_(problem_.nodes.size()), producers_(problem_.nodes.size()) {}

// The order of this walk decides which loads are counted, and how often (section 4.2, quirks Q1 and Q2). It begins with
// the stage itself, which has one edge from each producer: so its loads need a list only to be looked through.
VectorReads LoadAnalysis::per_vector(int stage, const Reference &reference, const Extents *unrolled,
                                     bool with_allocations) {
    const int vectorized_loop = sites_.level(sites_.of_stage(stage).innermost).level->vectorized_loop;
    VectorReads result;
    const auto add = [&](const Load &load) {
        const double count = amortized(load, unrolled);
        result.loads.of_kind[static_cast<size_t>(kind(load, vectorized_loop))] += count;
        result.loads.total += count;
    };
    bool is_listed = false;
    for (start(stage); !pending_.empty();) {
        const Stage &reader = next_stage();
        const bool is_own = reader.id == stage;
        if (!is_own) {
            if (!std::exchange(is_listed, true)) list_loads(stage);
            look_through(reader.node);
        }
        for (const int e : reader.incoming) {
            const int producer = problem_.edges[static_cast<size_t>(e)].producer;
            producers_.insert(producer);
            if (sites_.of_node(producer).status == NodeSites::Status::Inlined) {
                pending_.push_back(problem_.nodes[static_cast<size_t>(producer)].first_stage);
                continue;
            }
            if (is_own) {
                const LoadRange range = table_.of_edge(e);
                for (int load = range.begin; load < range.end; load++) {
                    add(table_[load]);
                }
            } else {
                for (const int load : loads_) {
                    if (table_[load].producer == producer) add(table_[load]);
                }
            }
            if (insert(producer)) {
                result.reads.unique += reads_of(producer, reference);
                if (with_allocations) result.reads.allocation_bytes += allocation_bytes(producer);
            }
        }
    }
    return result;
}

void LoadAnalysis::list_loads(int stage) {
    loads_.clear();
    for (const int e : problem_.stages[static_cast<size_t>(stage)].incoming) {
        const LoadRange range = table_.of_edge(e);
        for (int load = range.begin; load < range.end; load++) {
            loads_.push_back(load);
        }
    }
}

Reads LoadAnalysis::per_realization(int stage, const Reference &reference) {
    Reads result;
    for (start(stage); !pending_.empty();) {
        for (const int e : next_stage().incoming) {
            const int producer = problem_.edges[static_cast<size_t>(e)].producer;
            if (!insert(producer)) continue;
            if (sites_.of_node(producer).status == NodeSites::Status::Inlined) {
                pending_.push_back(problem_.nodes[static_cast<size_t>(producer)].first_stage);
                continue;
            }
            result.unique += reads_of(producer, reference);
            result.allocation_bytes += allocation_bytes(producer);
        }
    }
    return result;
}

Footprint LoadAnalysis::per_task(const Stage &stage, int block) {
    Footprint result;
    for (start(stage.id); !pending_.empty();) {
        for (const int e : next_stage().incoming) {
            const int producer = problem_.edges[static_cast<size_t>(e)].producer;
            if (!insert(producer)) continue;
            producers_.insert(producer);
            const NodeSites &sites = sites_.of_node(producer);
            if (sites.store == 0) {
                result += footprint(producer, block);
            } else if (sites.is_scheduled()) {
                const Node &node = problem_.nodes[static_cast<size_t>(producer)];
                for (int s = 0; s < node.num_stages; s++) {
                    pending_.push_back(node.first_stage + s);
                }
            }
        }
    }
    return result;
}

void LoadAnalysis::start(int stage) {
    pending_.assign(1, stage);
    walk_++;
    if (walk_ == 0) {
        std::fill(visited_.begin(), visited_.end(), 0);
        walk_ = 1;
    }
}

const Stage &LoadAnalysis::next_stage() {
    const int stage = pending_.back();
    pending_.pop_back();
    return problem_.stages[static_cast<size_t>(stage)];
}

// Whether this walk comes to the node for the first time.
bool LoadAnalysis::insert(int node) {
    return std::exchange(visited_[static_cast<size_t>(node)], walk_) != walk_;
}

// Replaces the loads of an inlined Func by those it makes itself, in place.
void LoadAnalysis::look_through(int inlined) {
    const auto loads_it = [&](int load) { return table_[load].producer == inlined; };
    if (std::none_of(loads_.begin(), loads_.end(), loads_it)) return;
    replaced_.clear();
    for (const int load : loads_) {
        if (!loads_it(load)) {
            replaced_.push_back(load);
            continue;
        }
        const LoadRange range = table_.through(load);
        for (int next = range.begin; next < range.end; next++) {
            replaced_.push_back(next);
        }
    }
    std::swap(loads_, replaced_);
}

// A stage that is not vectorized broadcasts everything (quirk Q12). While the layout of the producer is open, any
// dimension may become its innermost one.
LoadKind LoadAnalysis::kind(const Load &load, int vectorized_loop) const {
    if (vectorized_loop < 0) return LoadKind::Broadcast;
    const LoadPattern pattern = load.by_loop[static_cast<size_t>(vectorized_loop)];
    if (pattern.kind == LoadKind::Broadcast || pattern.kind == LoadKind::Gather) return pattern.kind;
    const NodeSites &sites = sites_.of_node(load.producer);
    return !sites.has_layout() || sites.storage_dim == pattern.dimension ? pattern.kind : LoadKind::Gather;
}

// A producer that is allocated more often than its reads are measured counts with what one of its realizations holds.
Footprint LoadAnalysis::reads_of(int producer, const Reference &reference) {
    const NodeSites &sites = sites_.of_node(producer);
    const bool nested =
        sites.status == NodeSites::Status::Realized && sites_.level(sites.store).iterations() > reference.count;
    return footprint(producer, nested ? sites.store : reference.level);
}

Footprint LoadAnalysis::footprint(int producer, int level) {
    const Node &node = problem_.nodes[static_cast<size_t>(producer)];
    return footprint_of(bounds_.of(*sites_.level(level).level, producer).required(), node.bytes_per_point,
                        sites_.of_node(producer).storage_dim);
}

int64_t LoadAnalysis::allocation_bytes(int producer) {
    const Level &site = *sites_.level(sites_.of_node(producer).compute).level;
    return problem_.nodes[static_cast<size_t>(producer)].bytes_per_point * bounds_.of(site, producer).volume_computed();
}

}  // namespace halidegym
