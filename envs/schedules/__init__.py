"""Complete schedules as values: found by search, by Halide's autoschedulers, or to be trusted."""
