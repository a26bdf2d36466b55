"""Compiling schedules and measuring their run times."""
