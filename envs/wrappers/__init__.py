"""Wrappers that show episodes in another way; those that replace rewards are in `halidegym.rewards`."""

from halidegym.envs.wrappers.text import TextObservation

__all__ = ["TextObservation"]
