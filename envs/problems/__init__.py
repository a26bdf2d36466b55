"""Scheduling problems: Halide pipelines as plain data, and what their search spaces allow."""
