"""A policy learns what its decisions are worth, from episodes that it keeps, by deep Q-learning."""
