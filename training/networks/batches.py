"""Problems, states and decisions of different sizes, joined end to end into tensors without padding."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Rows: TypeAlias = Mapping[str, NDArray[Any]]
"""What `_core.problem_rows` or `_core.replay_rows` returned."""

#: What a state sees of its stages, apart from all of them: the deciding ones, their consumers that are not inlined, and
#: those inlined, computed at root and within others.
NUM_GROUPS = 5
DECIDING, CONSUMERS, FIRST_PLACE = 0, 1, 2
#: Of places, which count from undecided.
INLINED = 1

T = TypeVar("T", bound="Tensors")


@dataclass(frozen=True)
class Tensors:
    """A dataclass of tensors."""

    def to(self: T, device: torch.device | str) -> T:
        """The same on another device."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        moved = {name: value.to(device) for name, value in fields.items() if isinstance(value, Tensor)}
        return dataclasses.replace(self, **moved)


@dataclass(frozen=True)
class Problems(Tensors):
    """S stages and E edges of P problems.

    Attributes:
        algorithm_features: [S, 280].
        stage_features: [S, 24].
        stage_problem: [S], the problem of each stage.
        edges: [2, E], producers and consumers among all S stages.
        edge_features: [E, 8].
        offsets: [P + 1], the first stage of each problem, and S.
    """

    algorithm_features: Tensor
    stage_features: Tensor
    stage_problem: Tensor
    edges: Tensor
    edge_features: Tensor
    offsets: Tensor

    @property
    def count(self) -> int:
        """Of problems."""
        return len(self.offsets) - 1


@dataclass(frozen=True)
class States(Tensors):
    """N states of problems. A state's groups of stages are listed as M members.

    Attributes:
        problem: [N].
        phase: [N], 0: placing, 1: parallelizing.
        decided: [N], share of decisions made.
        num_legal: [N], legal decisions, of which some may not be shown; no network reads it.
        member_stage: [M], among all stages of the problems.
        member_slot: [M], 5 * state + group.
    """

    problem: Tensor
    phase: Tensor
    decided: Tensor
    num_legal: Tensor
    member_stage: Tensor
    member_slot: Tensor

    @property
    def count(self) -> int:
        """Of states."""
        return len(self.problem)


@dataclass(frozen=True)
class Decisions(Tensors):
    """D decisions of states.

    Attributes:
        state: [D].
        descriptors: [D, 42].
        stage: [D], stage of the decision's level among all stages of the problems; -1: root or none.
        child_features: [D, 43] of the children; None if they were not asked for.
    """

    state: Tensor
    descriptors: Tensor
    stage: Tensor
    child_features: Tensor | None = None


class StateAt(NamedTuple):
    """One of the states that were replayed."""

    problem: int
    """Among those joined."""
    replayed: Rows
    row: int


def join_problems(problems: Sequence[Rows]) -> Problems:
    """The problems whose rows are given."""
    sizes = np.array([len(rows["stage_features"]) for rows in problems])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    edges = [rows["edges"].T.astype(np.int64) + first for rows, first in zip(problems, offsets[:-1], strict=True)]
    return Problems(
        algorithm_features=_join([rows["algorithm_features"] for rows in problems], np.float32),
        stage_features=_join([rows["stage_features"] for rows in problems], np.float32),
        stage_problem=torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes)),
        edges=torch.from_numpy(np.concatenate(edges, axis=1)),
        edge_features=_join([rows["edge_features"] for rows in problems], np.float32),
        offsets=torch.from_numpy(offsets),
    )


def join(problems: Sequence[Rows], states: Sequence[StateAt]) -> tuple[States, Decisions]:
    """States that were replayed of these problems, in this order, and the decisions that are shown of them."""
    sizes = np.array([len(rows["stage_features"]) for rows in problems])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    stages, slots, levels, counts = [], [], [], []
    for index, (problem, replayed, row) in enumerate(states):
        stage, group = members(problems[problem]["edges"], replayed["deciding"][row], replayed["places"][row])
        stages.append(stage + offsets[problem])
        slots.append(group + NUM_GROUPS * index)
        shown = slice(*replayed["offsets"][row : row + 2])
        level = replayed["decision_stage"][shown].astype(np.int64)
        levels.append(np.where(level < 0, -1, level + offsets[problem]))
        counts.append(len(level))
    joined_states = States(
        problem=torch.tensor([state.problem for state in states]),
        phase=_column(states, "phase", np.int64),
        decided=_column(states, "decided", np.float32),
        num_legal=_column(states, "num_legal", np.float32),
        member_stage=_join(stages, np.int64),
        member_slot=_join(slots, np.int64),
    )
    has_children = bool(states) and all("decision_features" in state.replayed for state in states)
    decisions = Decisions(
        state=torch.from_numpy(np.repeat(np.arange(len(states)), counts)),
        descriptors=_join([rows_shown(state, "decisions") for state in states], np.float32),
        stage=_join(levels, np.int64),
        child_features=_join([rows_shown(state, "decision_features") for state in states], np.float32)
        if has_children
        else None,
    )
    return joined_states, decisions


def join_present(problems: Sequence[Rows], states: Sequence[StateAt]) -> tuple[Problems, States, Decisions]:
    """The same, and those of the problems that the states are of."""
    present = sorted({state.problem for state in states})
    position = {problem: index for index, problem in enumerate(present)}
    of_states = [problems[problem] for problem in present]
    return join_problems(of_states), *join(
        of_states, [state._replace(problem=position[state.problem]) for state in states]
    )


def members(
    edges: NDArray[Any], deciding: NDArray[Any], places: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The stages in the groups of one state, and their groups. A consumer counts once for each edge to it."""
    first, count = (int(value) for value in deciding)
    producer, consumer = edges[:, 0], edges[:, 1]
    own = (producer >= first) & (producer < first + count)
    others = consumer[own & ~((consumer >= first) & (consumer < first + count)) & (places[consumer] != INLINED)]
    (placed,) = np.nonzero(places >= INLINED)
    stages = np.concatenate([np.arange(first, first + count), others, placed])
    groups = np.concatenate(
        [np.full(count, DECIDING), np.full(len(others), CONSUMERS), places[placed] - INLINED + FIRST_PLACE]
    )
    return stages.astype(np.int64), groups.astype(np.int64)


def rows_shown(state: StateAt, name: str) -> NDArray[Any]:
    """The rows of this name that the decisions shown of a state have."""
    first, end = state.replayed["offsets"][state.row : state.row + 2]
    return state.replayed[name][first:end]


def _column(states: Sequence[StateAt], name: str, dtype: type) -> Tensor:
    return torch.from_numpy(np.array([state.replayed[name][state.row] for state in states], dtype))


def _join(arrays: Sequence[NDArray[Any]], dtype: type) -> Tensor:
    return torch.from_numpy(np.concatenate(arrays).astype(dtype, copy=False))
