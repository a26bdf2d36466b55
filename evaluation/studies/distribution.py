"""How generated pipelines are distributed: sizes, branching, types, kinds of stages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from halidegym.envs import pipelines
from halidegym.envs.pipelines import generated
from halidegym.envs.pipelines.generated.blueprint import Blueprint
from halidegym.envs.pipelines.generated.kinds import KINDS
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native import _core
from halidegym.native.weights import builtin_weights

TARGET = "x86-64-linux-avx-avx2-f16c-fma-sse41"
PARALLELISM = 16
"""What numbers of legal decisions are counted for; the rest does not depend on it."""


@dataclass(frozen=True)
class Facts:
    """One generated pipeline.

    Attributes:
        sizes: quantities that every pipeline has, by name, in the order in which tables show them.
        types: how many Funcs there are of each type.
        ranks: how many Funcs there are of each number of dimensions.
        kinds: how many Funcs there are of each kind.
    """

    sizes: Mapping[str, float]
    types: Counter[str]
    ranks: Counter[int]
    kinds: Counter[str]


def survey(suite: str, count: int, on_step: Callable[[str], None]) -> list[Facts]:
    """The first pipelines of a suite of generated ones.

    Args:
        suite: its name, such as "random-train-v1".
        count: how many pipelines.
        on_step: called with a name when the work on that pipeline begins.
    """
    result = []
    for number in range(count):
        name = f"{suite}/{number}"
        on_step(name)
        result.append(facts(name))
    return result


def facts(name: str) -> Facts:
    """Describe the generated pipeline of this name.

    Raises:
        ValueError: there is none.
    """
    blueprint = generated.blueprint(name)
    problem = SchedulingProblem.from_pipeline(pipelines.build(name), target=TARGET, parallelism=PARALLELISM, name=name)
    stages = blueprint.stages
    readers = _readers(blueprint)
    depths = _depths(blueprint)
    sizes = {
        "Funcs (nodes)": problem.num_nodes,
        "stages": problem.num_stages,
        "edges": len(problem.edges),
        "inputs": sum(not stage.operands for stage in stages),
        "outputs": len(blueprint.outputs),
        "longest path": max(depths),
        "readers of a Func, most": max(readers),
        "Funcs with several readers": sum(count > 1 for count in readers),
        "skip edges": sum(depths[i] - depths[o] > 1 for i, stage in enumerate(stages) for o in set(stage.operands)),
        "loops of a stage, most": max(len(stage.loops) for stage in problem.stages),
        "points of the largest Func": max(stage.tensor.points for stage in stages),
        "operations, millions": sum(stage.work for stage in stages if stage.operands) / 1e6,
        "legal decisions of a state": _branching(problem),
    }
    return Facts(
        sizes,
        Counter(stage.tensor.type for stage in stages),
        Counter(len(stage.tensor.extents) for stage in stages),
        Counter(stage.kind for stage in stages),
    )


def families(kinds: Mapping[str, int]) -> Counter[str]:
    """The counts of kinds, added up by family."""
    result: Counter[str] = Counter()
    for kind, count in kinds.items():
        result[KINDS[kind].family] += count
    return result


def quantiles(values: Iterable[float], fractions: Iterable[float]) -> list[float]:
    """For each fraction, the least value that at least this fraction of all values does not exceed."""
    ordered = sorted(values)
    return [ordered[max(0, math.ceil(fraction * len(ordered)) - 1)] for fraction in fractions]


def _readers(blueprint: Blueprint) -> list[int]:
    counts = [0] * len(blueprint.stages)
    for stage in blueprint.stages:
        for operand in set(stage.operands):
            counts[operand] += 1
    return counts


def _depths(blueprint: Blueprint) -> list[int]:
    """For each stage, the number of edges of the longest path from an input."""
    depths: list[int] = []
    for stage in blueprint.stages:
        depths.append(max((1 + depths[operand] for operand in stage.operands), default=0))
    return depths


def _branching(problem: SchedulingProblem) -> float:
    """The mean number of legal decisions over the states of a random descent that have more than one."""
    state = _core.Space(problem.native, builtin_weights()).initial_state()
    counts = []
    for seed in range(2 * problem.num_nodes):
        legal = len(state.expand())
        if legal == 0:
            break
        if legal > 1:
            counts.append(legal)
        _, state = state.random_decision(seed)
    return sum(counts) / max(1, len(counts))
