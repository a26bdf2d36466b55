#include "cost/feature_rows.h"

#include <algorithm>

// Sections and quirks are those of docs/specification/schedule-features.md.

namespace halidegym {

namespace {

// Largest product of trips around a vector loop that gets unrolled.
constexpr int64_t max_unrolled_extent = 12;

int64_t volume(std::span<const Span> spans) {
    int64_t result = 1;
    for (const Span &span : spans) {
        result *= span.extent();
    }
    return result;
}

double real(int64_t value) {
    return static_cast<double>(value);
}

}  // namespace

FeatureRows::FeatureRows(const FeatureConstants &constants, const Sites &sites)
    : constants_(constants), problem_(constants.problem), sites_(sites), loads_(constants, sites) {}

Realization FeatureRows::realization(const Node &node) const {
    const NodeSites &sites = sites_.of_node(node.id);
    const Bound &at_store = sites_.level(sites.store).level->regions->of(node.id);
    const Bound &at_compute = sites_.level(sites.compute).level->regions->of(node.id);
    return {
        .productions = sites_.level(sites.compute).iterations(),
        .bytes_at_realization = node.bytes_per_point * at_store.volume_computed(),
        .bytes_at_production = node.bytes_per_point * at_compute.volume_computed(),
        .innermost_bytes_at_realization = innermost_bytes(node, at_store, sites.storage_dim),
        .innermost_bytes_at_production = innermost_bytes(node, at_compute, sites.storage_dim),
        .at_store = &at_store,
    };
}

FeatureRow FeatureRows::of_realized(const Stage &stage, const Realization &realization) {
    loads_.reset_producers();
    FeatureRow row{};
    fill_points(stage, realization, row);
    fill_innermost(stage, row);
    fill_task(stage, realization, row);
    fill_reads(stage, row);
    fill_root(stage, row);
    return row;
}

FeatureRow FeatureRows::of_inlined(const Stage &stage) const {
    FeatureRow row{};
    fill_root(stage, row);
    return row;
}

// How often the stage is realized and produced, and how many points that takes.
void FeatureRows::fill_points(const Stage &stage, const Realization &realization, FeatureRow &row) const {
    const NodeSites &sites = sites_.of_node(stage.node);
    const NestLevel &produce = sites_.level(sites_.of_stage(stage.id).produce);
    const NestLevel &innermost = sites_.level(sites_.of_stage(stage.id).innermost);
    const auto loops = realization.at_store->loops(stage.index);
    const int64_t realizations = sites_.level(sites.store).iterations();
    const int64_t points = volume(loops);

    row[feature::num_realizations] = real(realizations);
    row[feature::num_productions] = real(realization.productions);
    row[feature::points_computed_per_realization] = real(points);
    row[feature::points_computed_per_production] = real(innermost.iterations()) / real(realization.productions);
    row[feature::points_computed_total] = real(points) * real(realizations);
    row[feature::inner_parallelism] = real(produce.tasks);
    row[feature::outer_parallelism] = real(produce.outer_parallelism);
    row[feature::bytes_at_realization] = real(realization.bytes_at_realization);
    row[feature::bytes_at_production] = real(realization.bytes_at_production);
    row[feature::innermost_bytes_at_realization] = real(realization.innermost_bytes_at_realization);
    row[feature::innermost_bytes_at_production] = real(realization.innermost_bytes_at_production);

    // Vectors and the scalars left over, from the region at the store level instead of the trips (section 5.4).
    const int vectorized_loop = innermost.level->vectorized_loop;
    int64_t vectors = 0;
    int64_t scalars = realizations;
    for (int i = 0; i < static_cast<int>(loops.size()); i++) {
        if (i != vectorized_loop) scalars *= loops[static_cast<size_t>(i)].extent();
    }
    int64_t lanes = 1;
    if (vectorized_loop >= 0) {
        lanes = innermost.level->size[vectorized_loop];
        const int64_t extent = loops[static_cast<size_t>(vectorized_loop)].extent();
        vectors = scalars * (extent / stage.vector_size);
        scalars *= extent % stage.vector_size;
    }
    row[feature::vector_size] = real(lanes);
    row[feature::native_vector_size] = real(stage.vector_size);
    row[feature::num_vectors] = real(lanes == 1 ? 0 : vectors);
    row[feature::num_scalars] = real(lanes == 1 ? scalars + vectors : scalars);
}

// The loops around the innermost level, if the stage has more than that one (sections 5.1 and 5.3).
void FeatureRows::fill_innermost(const Stage &stage, FeatureRow &row) const {
    const StageSites &sites = sites_.of_stage(stage.id);
    row[feature::unrolled_loop_extent] = 1;
    if (sites.innermost == sites.produce) return;
    const NestLevel &level = sites_.level(sites_.level(sites.innermost).parent);
    int64_t pure_extent = 1;
    for (size_t i = 0; i < stage.loops.size(); i++) {
        if (!stage.loops[i].rvar) pure_extent *= level.level->size[static_cast<int>(i)];
    }
    row[feature::innermost_loop_extent] = real(level.trips);
    row[feature::innermost_pure_loop_extent] = real(pure_extent);
    row[feature::unrolled_loop_extent] = real(unrolled_extent(stage, level, pure_extent));
}

// The loops of `level` are unrolled if they are short and of constant extent in the body around them (section 5.3).
int64_t FeatureRows::unrolled_extent(const Stage &stage, const NestLevel &level, int64_t pure_extent) const {
    if (pure_extent > max_unrolled_extent) return 1;
    const Level &around = *sites_.level(level.parent).level;
    const auto loops = around.regions->of(stage.node).loops(stage.index);
    for (size_t i = 0; i < loops.size(); i++) {
        if (!stage.loops[i].rvar && !loops[i].constant_extent) return 1;
    }
    return pure_extent;
}

// What one parallel task writes and reads (sections 5.5 and 5.6).
void FeatureRows::fill_task(const Stage &stage, const Realization &realization, FeatureRow &row) {
    const Node &node = problem_.node_of(stage);
    const NodeSites &sites = sites_.of_node(stage.node);
    const int produce = sites_.of_stage(stage.id).produce;
    const NestLevel &level = sites_.level(produce);

    if (sites.store != 0) {
        row[feature::bytes_at_task] = real(realization.bytes_at_realization);
        row[feature::innermost_bytes_at_task] = real(realization.innermost_bytes_at_realization);
    } else if (sites.compute == 0 && level.level->parallel) {
        int64_t bytes = node.bytes_per_point;
        int64_t innermost_bytes = node.bytes_per_point;
        const auto region = realization.at_store->computed();
        for (int d = 0; d < node.dimensions; d++) {
            const int loop = stage.loop_of_dim[static_cast<size_t>(d)];
            const int64_t tasks = loop >= 0 ? level.level->size[loop] : 1;
            const int64_t extent = region[static_cast<size_t>(d)].extent() / tasks;
            bytes *= extent;
            if (d == sites.storage_dim) innermost_bytes *= extent;
        }
        row[feature::bytes_at_task] = real(bytes);
        row[feature::innermost_bytes_at_task] = real(innermost_bytes);
    } else if (sites.compute == 0) {
        const double cores = problem_.parallelism;
        const double bytes = (real(realization.bytes_at_realization) + cores - 1) / cores;
        row[feature::bytes_at_task] = bytes;
        row[feature::innermost_bytes_at_task] = std::min(bytes, real(realization.innermost_bytes_at_realization));
    }

    if (sites.compute == 0) {
        const Footprint reads = loads_.per_task(stage, produce);
        row[feature::unique_bytes_read_per_task] = real(reads.bytes);
        row[feature::unique_lines_read_per_task] = real(reads.lines);
    }
}

void FeatureRows::fill_reads(const Stage &stage, FeatureRow &row) {
    const StageSites &sites = sites_.of_stage(stage.id);
    const NestLevel &innermost = sites_.level(sites.innermost);
    const Extents *unrolled =
        row[feature::unrolled_loop_extent] > 1 ? &sites_.level(innermost.parent).level->size : nullptr;
    // A stage of a single level has one analysis for both (quirk Q16).
    const bool is_single = sites.innermost == sites.produce;
    const auto [vector, loads] =
        loads_.per_vector(stage.id, {.level = innermost.parent, .count = innermost.instances}, unrolled, is_single);
    Reads realization = vector;
    if (!is_single) {
        const int store = sites_.of_node(stage.node).store;
        realization = loads_.per_realization(stage.id, {.level = store, .count = sites_.level(store).iterations()});
    }

    row[feature::unique_bytes_read_per_vector] = real(vector.unique.bytes);
    row[feature::unique_lines_read_per_vector] = real(vector.unique.lines);
    row[feature::unique_bytes_read_per_realization] = real(realization.unique.bytes);
    row[feature::unique_lines_read_per_realization] = real(realization.unique.lines);
    row[feature::allocation_bytes_read_per_realization] = real(realization.allocation_bytes);

    // The order of these sums fixes their last bits (section 9).
    row[feature::vector_loads_per_vector] = loads[LoadKind::Dense] + 2 * loads[LoadKind::Stride2] +
                                            3 * loads[LoadKind::Stride3] + 4 * loads[LoadKind::Stride4];
    row[feature::scalar_loads_per_vector] =
        loads[LoadKind::Broadcast] + row[feature::vector_size] * loads[LoadKind::Gather];
    row[feature::scalar_loads_per_scalar] = loads.total;

    // An update is assumed to load what it updates, once, and reads the whole region that it produces (quirk Q14).
    if (stage.index > 0) {
        const double bytes = row[feature::bytes_at_production];
        row[feature::vector_loads_per_vector] += 1;
        row[feature::scalar_loads_per_scalar] += 1;
        row[feature::unique_bytes_read_per_realization] += bytes;
        row[feature::unique_lines_read_per_realization] += bytes / row[feature::innermost_bytes_at_production];
        row[feature::allocation_bytes_read_per_realization] += bytes;
    }
}

void FeatureRows::add_calls(FeatureRow &row, const NestLevel &leaf, int64_t calls, const FeatureRow &consumer) {
    const auto merge_minimum = [](double &value, double first, double later) {
        value = value > 0 ? std::min(value, later) : first;
    };
    const double native_vector_size = consumer[feature::native_vector_size];
    const double pure_extent = consumer[feature::innermost_pure_loop_extent];
    row[feature::inlined_calls] += real(calls * leaf.iterations());
    row[feature::num_vectors] += real(calls) * consumer[feature::num_vectors];
    row[feature::num_scalars] += real(calls) * consumer[feature::num_scalars];
    row[feature::native_vector_size] = native_vector_size;
    merge_minimum(row[feature::vector_size], consumer[feature::vector_size], native_vector_size);
    merge_minimum(row[feature::innermost_pure_loop_extent], pure_extent, pure_extent);
    row[feature::inner_parallelism] = 1;
    row[feature::outer_parallelism] = real(leaf.outer_parallelism);
}

// What follows from the whole pipeline, for realized and inlined Funcs alike.
void FeatureRows::fill_root(const Stage &stage, FeatureRow &row) const {
    const Node &node = problem_.node_of(stage);
    const Bound &bound = sites_.level(0).level->regions->of(node.id);
    const int innermost = sites_.of_stage(stage.id).innermost;
    row[feature::points_computed_minimum] = real(constants_.points_minimum[static_cast<size_t>(stage.id)]);
    row[feature::bytes_at_root] = real(node.bytes_per_point * bound.volume_computed());
    row[feature::innermost_bytes_at_root] =
        real(innermost_bytes(node, bound, sites_.level(innermost).level->vector_dim));
}

// Of an inlined Func the dimension is its consumer's, which may have more of them.
int64_t FeatureRows::innermost_bytes(const Node &node, const Bound &bound, int dimension) const {
    const auto region = bound.computed();
    if (dimension >= static_cast<int>(region.size())) return node.bytes_per_point;
    return node.bytes_per_point * region[static_cast<size_t>(dimension)].extent();
}

}  // namespace halidegym
