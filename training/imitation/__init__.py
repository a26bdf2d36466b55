"""Imitation: networks learn to take the decisions of good plans, and what can be reached from their states."""
