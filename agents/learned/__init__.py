"""Learned policies: their files, and the agents that use them."""
