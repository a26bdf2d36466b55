"""What decisions are worth: where a policy's own schedules come to, some are taken, and the rest is completed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.learned.policies import load_network
from halidegym.native._core import Expansion, GuidanceOptions, GuidedSpace, Policy, Space
from halidegym.training.aggrevate.settings import LabelSettings
from halidegym.training.data.shard import TaughtProblem


@dataclasses.dataclass(frozen=True)
class ValuedSchedule:
    """A schedule of a policy's own, and what might have been.

    Attributes:
        actions: per decision, the index of the one taken among the legal ones, forced ones included. They end early where
            all that was tried ends in a dead end.
        costs: per decision, pairs of an index and the cost of the cheapest schedule found with that decision, infinite if
            none was; empty where there is no choice.
    """

    actions: tuple[int, ...]
    costs: tuple[tuple[tuple[int, float], ...], ...]


@dataclasses.dataclass(frozen=True)
class _Tried:
    """What was tried in a state.

    Attributes:
        costs: by index, as in `ValuedSchedule`.
        takes: by the way to take decisions, which one that is.
    """

    costs: Mapping[int, float]
    takes: Mapping[str, int]


_Try: TypeAlias = Callable[[Expansion], _Tried]

WAYS = ("blind favourite", "blind draw", "shortlist favourite", "shortlist draw", "favourite of all children")
"""How a policy may take decisions."""


def valued_schedules(
    problem: TaughtProblem, policy: Path, settings: LabelSettings, seed: int
) -> tuple[ValuedSchedule, ...]:
    """Schedules that a policy makes of a problem in some of the `WAYS`, with what their decisions are worth.

    Args:
        problem: to schedule.
        policy: file of the policy.
        settings: in how many of the ways, which are drawn at random, and what is tried.
        seed: of all draws.
    """
    space, random = problem.space(), np.random.default_rng(seed)
    attempt = _attempts(space, Policy(load_network(policy), space), settings, random)
    tried: dict[tuple[int, ...], _Tried] = {}
    ways = random.permutation(WAYS)[: settings.schedules]
    return tuple(_schedule(space, str(way), attempt, tried) for way in ways)


def _schedule(space: Space, way: str, attempt: _Try, tried: dict[tuple[int, ...], _Tried]) -> ValuedSchedule:
    state, actions, costs = space.initial_state(), list[int](), list[tuple[tuple[int, float], ...]]()
    while not state.is_complete:
        expansion = state.expand()
        if len(expansion) == 0:
            break
        if len(expansion) == 1:
            actions.append(0)
            costs.append(())
        else:
            path = tuple(actions)
            if path not in tried:
                tried[path] = attempt(expansion)
            if not np.isfinite(min(tried[path].costs.values())):
                break
            actions.append(tried[path].takes[way])
            costs.append(tuple(tried[path].costs.items()))
        state = expansion.child(actions[-1])
    return ValuedSchedule(tuple(actions), tuple(costs))


def _attempts(space: Space, policy: Policy, settings: LabelSettings, random: np.random.Generator) -> _Try:
    favourites = GuidedSpace(space, policy, GuidanceOptions(temperature=0.0, shortlist=settings.shortlist))
    draws = GuidedSpace(space, policy, GuidanceOptions(shortlist=settings.shortlist))

    def completion_costs(expansion: Expansion, actions: list[int]) -> NDArray[np.float64]:
        # The policy's favourites have traps: the cheapest of several completions counts.
        costs = favourites.completion_costs(expansion, actions)
        for seed in random.integers(2**62, size=settings.draws).tolist():
            costs = np.minimum(costs, draws.completion_costs(expansion, actions, seed=seed))
        return costs

    def attempt(expansion: Expansion) -> _Tried:
        child_costs = expansion.costs()
        is_legal = np.isfinite(child_costs)
        blind = policy.blind_logits(expansion)
        child = np.where(is_legal, policy.child_logits(expansion), -np.inf)
        drawn, read = _draws(blind, settings.blind, random), _draws(child, settings.child, random)
        noisy = child[drawn] + random.gumbel(size=len(drawn))
        takes = dict(
            zip(
                WAYS,
                map(
                    int, (blind.argmax(), drawn[0], drawn[child[drawn].argmax()], drawn[noisy.argmax()], child.argmax())
                ),
                strict=True,
            )
        )
        cheapest = np.argsort(np.where(is_legal, child_costs, np.inf), kind="stable")[: settings.cheapest]
        uniform = random.choice(len(blind), min(settings.random, len(blind)), replace=False)
        actions = sorted({*takes.values(), *map(int, (*drawn, *read, *cheapest, *uniform))})
        return _Tried(dict(zip(actions, completion_costs(expansion, actions).tolist(), strict=True)), takes)

    return attempt


def _draws(logits: NDArray[np.float32], count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Decisions drawn without repetition, in the order of the draws (Kool et al. 2019, "Stochastic Beams")."""
    return np.argsort(-(logits + random.gumbel(size=len(logits))), kind="stable")[:count]
