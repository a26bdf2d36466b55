"""Episodes as a replay buffer keeps them: the actions, from which the states on the way are made when they are needed."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from halidegym.native._core import Environment, ObservationShape, Space
from halidegym.training.networks.batches import Rows
from halidegym.training.networks.padded import with_loops


@dataclass(frozen=True)
class View:
    """What is seen of a state.

    Attributes:
        max_decisions: decisions, at most; of more legal ones, evenly spread, as the environment presents them.
        loops: whose trip counts are told.
        skip_forced: whether states without a choice are none.
    """

    max_decisions: int
    loops: int
    skip_forced: bool = True


@dataclass(frozen=True, eq=False)
class Episode:
    """An episode of the environment.

    Attributes:
        space: of its schedules.
        actions: as the environment took them.
        rewards: of its steps.
        view: of its states.
    """

    space: Space
    actions: tuple[int, ...]
    rewards: tuple[float, ...]
    view: View

    def __len__(self) -> int:
        return len(self.actions)

    def __reduce__(self) -> tuple[type[Episode], tuple[Space, tuple[int, ...], tuple[float, ...], View]]:
        return Episode, (self.space, self.actions, self.rewards, self.view)  # without the rows, which can be made again

    @functools.cached_property
    def rows(self) -> Rows:
        """The states in which the actions were taken, in the form of `_core.replay_rows`."""
        size = ObservationShape.of(self.space)
        shape = ObservationShape(
            stages=size.stages, edges=size.edges, loops=size.loops, decisions=self.view.max_decisions
        )
        environment = Environment(shape, skip_forced=self.view.skip_forced)
        environment.start(self.space.initial_state())
        shown = []
        for action in self.actions:
            shown.append(_without_padding(environment.observe(), shape.descriptor_size, self.view.loops))
            environment.step(action)
        return _joined(shown)


def _without_padding(observation: dict[str, Any], columns: int, loops: int) -> dict[str, Any]:
    """The part of an observation that is of the state alone."""
    legal = int(observation["action_mask"].sum())
    (deciding,) = np.nonzero(observation["deciding"])
    rows = torch.from_numpy(observation["decisions"].reshape(-1, columns)[:legal])
    return {
        "deciding": np.array([deciding[0], len(deciding)]),
        "places": observation["places"].copy(),
        "phase": observation["phase"].argmax(),
        "decided": observation["decided"][0],
        "num_legal": legal,
        "decisions": with_loops(rows, loops).numpy().copy(),
        "decision_stage": observation["decision_stage"][:legal].copy(),
    }


def _joined(shown: Sequence[dict[str, Any]]) -> Rows:
    """Rows of states, one below the other."""
    by_decision = {key: np.concatenate([rows[key] for rows in shown]) for key in ("decisions", "decision_stage")}
    by_state = {key: np.stack([rows[key] for rows in shown]) for key in shown[0] if key not in by_decision}
    offsets = np.concatenate([[0], by_state["num_legal"].cumsum()])
    return {**by_decision, **by_state, "offsets": offsets}
