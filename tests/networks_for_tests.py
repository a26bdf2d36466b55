"""Rows of problems and states that no pipeline has, for networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halidegym.training.imitation.examples import Examples
from halidegym.training.networks import StateAt


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
        "decisions": rng.uniform(0, 10, (offsets[-1], 42)).astype(np.float32),
        "decision_stage": rng.integers(-1, stages, offsets[-1]).astype(np.int32),
        "decision_features": rng.uniform(-5, 20, (offsets[-1], 43)).astype(np.float32),
        "costs": rng.exponential(1, offsets[-1]),
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
