"""Rows of problems and states that no pipeline has, for networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halidegym.training.imitation.examples import Examples
from halidegym.training.networks import StateAt

Rows: TypeAlias = Mapping[str, NDArray[Any]]


def random_problem(rng: np.random.Generator, stages: int) -> dict[str, NDArray[Any]]:
    """Rows as `_core.problem_rows` has them: stages read from some before them."""
    edges = [
        (consumer, producer) for producer in range(1, stages) for consumer in range(producer) if rng.random() < 0.4
    ]
    pairs = np.array([(producer, consumer) for consumer, producer in edges], np.int32).reshape(-1, 2)
    return {
        "algorithm_features": rng.exponential(1, (stages, 280)).astype(np.float32) * (rng.random((stages, 280)) < 0.1),
        "stage_features": rng.uniform(0, 20, (stages, 24)).astype(np.float32),
        "edges": pairs,
        "edge_features": rng.uniform(0, 8, (len(pairs), 8)).astype(np.float32),
    }


def random_replay(rng: np.random.Generator, stages: int, states: int) -> dict[str, NDArray[Any]]:
    """Rows as `_core.replay_rows` has them, with child features."""
    counts = rng.integers(2, 20, states)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    first = rng.integers(0, stages, states)
    deciding = np.stack([first, rng.integers(1, stages - first + 1)], 1).astype(np.int32)
    return {
        "deciding": deciding,
        "phase": rng.integers(0, 2, states).astype(np.int8),
        "decided": rng.random(states, np.float32),
        "places": rng.integers(0, 4, (states, stages)).astype(np.int8),
        "num_legal": (counts + 5).astype(np.int32),
        "taken": rng.integers(0, counts).astype(np.int32),
        "offsets": offsets,
        "decisions": rng.uniform(0, 10, (offsets[-1], 29 + 3 * 8)).astype(np.float32),
        "decision_stage": rng.integers(-1, stages, offsets[-1]).astype(np.int32),
        "decision_features": rng.uniform(-5, 20, (offsets[-1], 43)).astype(np.float32),
        "costs": rng.exponential(1, offsets[-1]),
    }


def padded(
    problem: Rows, replay: Rows, row: int, *, stages: int, edges: int, loops: int, decisions: int
) -> dict[str, NDArray[Any]]:
    """A state as an observation of `HalideSchedule` shows it, in a room of this size."""
    first, end = replay["offsets"][row : row + 2]
    shown, count = replay["decisions"][first:end], len(problem["stage_features"])
    descriptors = np.zeros((end - first, 29 + 3 * loops), np.float32)
    descriptors[:, :11], descriptors[:, -18:] = shown[:, :11], shown[:, -18:]
    for i in range(3):
        descriptors[:, 11 + i * loops : 19 + i * loops] = shown[:, 11 + 8 * i : 19 + 8 * i]
    deciding = np.zeros(count, np.int8)
    begin, size = replay["deciding"][row]
    deciding[begin : begin + size] = 1

    def fill(rows: NDArray[Any], room: int, padding: int = 0) -> NDArray[Any]:
        table = np.full((room, *rows.shape[1:]), padding, rows.dtype)
        table[: len(rows)] = rows
        return table.reshape(-1)

    return {
        "algorithm_features": fill(problem["algorithm_features"], stages),
        "stage_features": fill(problem["stage_features"], stages),
        "stage_costs": np.zeros(stages, np.float32),
        "stage_mask": fill(np.ones(count, np.int8), stages),
        "scheduled": np.zeros(stages, np.int8),
        "deciding": fill(deciding, stages),
        "places": fill(replay["places"][row], stages),
        "phase": np.eye(2, dtype=np.int8)[replay["phase"][row]],
        "decided": replay["decided"][row : row + 1],
        "edges": fill(problem["edges"], edges, -1),
        "edge_features": fill(problem["edge_features"], edges),
        "decisions": fill(descriptors, decisions),
        "decision_stage": fill(replay["decision_stage"][first:end], decisions, -1),
        "decision_features": fill(replay["decision_features"][first:end], decisions),
        "action_mask": fill(np.ones(end - first, np.int8), decisions),
    }


def random_examples(seed: int = 0, problems: int = 3, states: int = 4) -> Examples:
    """So many problems with so many states each."""
    rng = np.random.default_rng(seed)
    rows = [random_problem(rng, int(stages)) for stages in rng.integers(1, 9, problems)]
    replays = [random_replay(rng, len(problem["stage_features"]), states) for problem in rows]
    count = problems * states
    return Examples(
        rows,
        [StateAt(index, replay, row) for index, replay in enumerate(replays) for row in range(states)],
        weights=rng.choice(np.array([0, 0.3, 1], np.float32), count),
        value_weights=rng.choice(np.array([0.3, 1], np.float32), count),
        values=rng.normal(size=count).astype(np.float32),
        relative_costs=rng.random(count, np.float32),
    )
