#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace halidegym {

inline constexpr int num_schedule_features = 39;  // of a stage

// Positions of the schedule features in a row, which are the channels of the cost model's input
// (docs/specification/schedule-features.md, section 5.1; Adams et al. 2019, appendix).
namespace feature {
enum Index : size_t {
    num_realizations,
    num_productions,
    points_computed_per_realization,
    points_computed_per_production,
    points_computed_total,
    points_computed_minimum,
    innermost_loop_extent,
    innermost_pure_loop_extent,
    unrolled_loop_extent,
    inner_parallelism,
    outer_parallelism,
    bytes_at_realization,
    bytes_at_production,
    bytes_at_root,
    innermost_bytes_at_realization,
    innermost_bytes_at_production,
    innermost_bytes_at_root,
    inlined_calls,
    unique_bytes_read_per_realization,
    unique_lines_read_per_realization,
    allocation_bytes_read_per_realization,
    working_set,
    vector_size,
    native_vector_size,
    num_vectors,
    num_scalars,
    scalar_loads_per_vector,
    vector_loads_per_vector,
    scalar_loads_per_scalar,
    bytes_at_task,
    innermost_bytes_at_task,
    unique_bytes_read_per_vector,
    unique_lines_read_per_vector,
    unique_bytes_read_per_task,
    unique_lines_read_per_task,
    working_set_at_task,
    working_set_at_production,
    working_set_at_realization,
    working_set_at_root,
};
}  // namespace feature

static_assert(feature::working_set_at_root + 1 == num_schedule_features);

// By feature::Index.
inline constexpr std::array<std::string_view, num_schedule_features> schedule_feature_names = {
    "num_realizations",
    "num_productions",
    "points_computed_per_realization",
    "points_computed_per_production",
    "points_computed_total",
    "points_computed_minimum",
    "innermost_loop_extent",
    "innermost_pure_loop_extent",
    "unrolled_loop_extent",
    "inner_parallelism",
    "outer_parallelism",
    "bytes_at_realization",
    "bytes_at_production",
    "bytes_at_root",
    "innermost_bytes_at_realization",
    "innermost_bytes_at_production",
    "innermost_bytes_at_root",
    "inlined_calls",
    "unique_bytes_read_per_realization",
    "unique_lines_read_per_realization",
    "allocation_bytes_read_per_realization",
    "working_set",
    "vector_size",
    "native_vector_size",
    "num_vectors",
    "num_scalars",
    "scalar_loads_per_vector",
    "vector_loads_per_vector",
    "scalar_loads_per_scalar",
    "bytes_at_task",
    "innermost_bytes_at_task",
    "unique_bytes_read_per_vector",
    "unique_lines_read_per_vector",
    "unique_bytes_read_per_task",
    "unique_lines_read_per_task",
    "working_set_at_task",
    "working_set_at_production",
    "working_set_at_realization",
    "working_set_at_root",
};

}  // namespace halidegym
