"""Playthroughs: episodes of the environments as text for people to read, which must not change by accident.

The idea is OpenSpiel's (Lanctot et al. 2019, section 3.4). The actions are drawn by a fixed rule; numbers depend on neither
the machine nor the process: targets and numbers of cores are given, and Func names are without their counters.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.pipelines import toys
from halidegym.envs.synthetic_tree import SyntheticTreeEnv
from halidegym.native import _core

#: Decisions to show of those that are legal, besides the one that is taken.
_SHOWN = 6
#: Stages to show with all of their features.
_FEATURED = 2
_PAPERS_TARGET = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41"


def playthrough(name: str) -> str:
    """Play one episode, and tell it.

    Args:
        name: one of `PLAYTHROUGHS`.

    Returns:
        The text, with a newline at its end.
    """
    return "\n".join([f"halidegym playthroughs {name}", "", *PLAYTHROUGHS[name]()]) + "\n"


def _schedule(**arguments: Any) -> Iterator[str]:
    env: HalideSchedule = gym.make("HalideSchedule-v0", **arguments).unwrapped  # type: ignore[assignment]
    rng = random.Random(0)
    observation, info = env.reset(seed=0)
    problem = env.problem
    yield "HalideSchedule-v0: " + ", ".join(f"{key}={value!r}" for key, value in arguments.items() if key != "pipeline")
    yield f"{problem!r}"
    yield f"hash {problem.hash}"
    terminated = False
    while not terminated:
        state, legal = env.state, info["num_legal_decisions"]
        yield f"\n== Decision {state.num_decisions_made} of {state.num_decisions}: {state.next_phase} {state.next_func}"
        yield from _observation(observation)
        action = int(rng.random() * min(legal, int(env.action_space.n)))  # type: ignore[attr-defined]
        indices, expansion = env.decision_indices(), state.expand()
        yield f"{legal} legal decisions" + (f", {len(indices)} shown" if info["decisions_truncated"] else "")
        shown = {*np.linspace(0, len(indices) - 1, min(_SHOWN, len(indices))).astype(int).tolist(), action}
        for k in sorted(shown):
            words = expansion.describe(int(indices[k]))
            yield f"  {k:4}{' <-' if k == action else '   '} " + ", ".join(
                f"{key} {words[key]}" for key in sorted(words)
            )
        observation, reward, terminated, _, info = env.step(action)
        yield f"reward {reward:.9g}"
    yield "\n== The end"
    yield from _observation(observation)
    yield from (f"{key} {info[key]:.9g}" for key in ("cost", "speedup"))
    yield f"greedy cost {env.greedy_state.cost():.9g}"
    yield f"\n{env.schedule.loop_nest().rstrip()}"
    yield from _features(env.state)
    yield f"\n{env.schedule.cpp().rstrip()}"


def _features(state: _core.State) -> Iterator[str]:
    ids, features = state.features()
    for stage, row in list(zip(ids.tolist(), features, strict=True))[:_FEATURED]:
        yield f"\nfeatures of stage {stage}"
        yield from _numbers(row)


def _tree(**arguments: Any) -> Iterator[str]:
    env: SyntheticTreeEnv = gym.make("SyntheticTree-v0", **arguments).unwrapped  # type: ignore[assignment]
    rng = random.Random(0)
    observation, info = env.reset(seed=0)
    yield "SyntheticTree-v0: " + ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    terminated = False
    while not terminated:
        yield f"\n== Depth {env.node.depth}, path cost {env.node.path_cost:.9g}"
        yield from _observation({"observation": observation})
        yield from _numbers(observation)
        action = int(rng.random() * env.tree.branching)
        observation, reward, terminated, _, info = env.step(action)
        yield f"child {action}, reward {reward:.9g}"
    optimum, path = env.tree.optimum()
    yield f"\n== The end: path cost {info['cost']:.9g}, optimum {optimum:.9g} by {' '.join(map(str, path))}"


def _observation(arrays: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """Shapes and contents. Means have four digits, which a library's logarithm does not change."""
    for key, array in arrays.items():
        mean = float(np.mean(array, dtype=np.float64))
        yield f"{key} {array.dtype} {array.shape}: {np.count_nonzero(array)} nonzero, mean {mean:.4g}"


def _numbers(values: Sequence[float] | NDArray[Any]) -> Iterator[str]:
    for start in range(0, len(values), 10):
        yield f"  {start:2}: " + " ".join(f"{value:.9g}" for value in values[start : start + 10])


def _without_counters(lines: Callable[[], Iterator[str]]) -> Callable[[], Iterator[str]]:
    """Drop the suffixes by which Halide keeps names unique in a process."""
    return lambda: (re.sub(r"\$\d+|(?<=\w)(_\d+)+\b", "", line) for line in lines())


PLAYTHROUGHS: Mapping[str, Callable[[], Iterator[str]]] = {
    **{
        name: _without_counters(
            partial(_schedule, pipeline=name, target=toys.TARGET, parallelism=toys.PARALLELISM, max_decisions=128)
        )
        for name in toys.BUILDERS
    },
    **{
        name: _without_counters(partial(_schedule, pipeline=name, target=_PAPERS_TARGET, parallelism=16))
        for name in ("harris", "unsharp")
    },
    "synthetic_tree": partial(_tree, branching=4, depth=6, delta=10.0, tree_seed=1),
}
"""The episodes by name: all toys, two benchmarks as in the papers, and a synthetic tree."""
