"""Agents x pipelines x seeds at equal budgets: suites, runs, reports, validation, leaderboards."""
