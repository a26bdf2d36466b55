"""Schedules found by measuring: proposed, chosen, compiled, timed, varied, and again."""
