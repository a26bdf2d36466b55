"""A policy learns from its own episodes, by proximal policy optimization."""
