"""Run times of schedules: side by side, against the cost model, and how far they can be trusted."""
