"""Gymnasium environments, rewards, timing and benchmark pipelines."""
