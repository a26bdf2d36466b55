"""Benchmarks of agents at equal budgets, statistics, reports and the command line."""
