"""The reference autoscheduler as an oracle: its cost model, its log and what it evaluates."""
