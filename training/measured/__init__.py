"""Schedules with their run times on one machine: collecting them, the files that keep them, and reading them."""
