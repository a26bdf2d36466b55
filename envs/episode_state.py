"""Points of an episode as values."""

from __future__ import annotations

from dataclasses import dataclass

from halidegym.native._core import State


@dataclass(frozen=True)
class EpisodeState:
    """A point of an episode, to come back to: see `HalideSchedule.clone_state`. Immutable.

    Attributes:
        problem_index: which of the environment's problems.
        state: the partial schedule.
        is_over: whether the episode had ended.
    """

    problem_index: int
    state: State
    is_over: bool
