"""The problems of generated pipelines, by their numbers."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from halidegym.envs.pipelines import generated
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.native import _core

_KEPT = 16  # for states of late episodes to come back to


class GeneratedProblems:
    """The pipelines of suites of generated ones, as `PreparedProblems`. Each is made when it is drawn; the last are kept.

    Args:
        suites: their names; they take turns.
        target: Halide target string; None for this machine.
        parallelism: number of cores to schedule for; None for the usable ones.
        rules: of the search spaces.
        weights: of the cost model.

    Raises:
        Error: see `load_problem`.
    """

    def __init__(
        self,
        suites: Sequence[str],
        target: str | None,
        parallelism: int | None,
        rules: Rules,
        weights: _core.Weights,
    ) -> None:
        self.suites = tuple(suites)
        first = load_problem(generated.name_in_turn(self.suites, 0), target=target, parallelism=parallelism)
        self.target = first.target
        self.parallelism = first.parallelism
        self.rules = rules
        self.weights = weights
        self._kept = functools.lru_cache(maxsize=_KEPT)(self.make)

    def __reduce__(self) -> tuple[type[GeneratedProblems], tuple[tuple[str, ...], str, int, Rules, _core.Weights]]:
        return GeneratedProblems, (self.suites, self.target, self.parallelism, self.rules, self.weights)

    def make(self, number: int) -> PreparedProblem:
        """Generate and analyse one, whether or not it is kept."""
        problem = load_problem(
            generated.name_in_turn(self.suites, number), target=self.target, parallelism=self.parallelism
        )
        return self.prepared(problem)

    def prepared(self, problem: SchedulingProblem, greedy_cost: float | None = None) -> PreparedProblem:
        """A problem with the rules and the weights of all of these."""
        return PreparedProblem(problem, self.rules, self.weights, greedy_cost=greedy_cost)

    def __len__(self) -> int:
        return generated.COUNT * len(self.suites)

    def __getitem__(self, number: int) -> PreparedProblem:
        return self._kept(number)

    def given_problems(self) -> tuple[SchedulingProblem, ...]:
        """None, since they have no end."""
        return ()

    def least_shape(self) -> _core.ObservationShape:
        """The room for the largest of them."""
        return _core.ObservationShape(
            stages=generated.MAX_STAGES, edges=generated.MAX_EDGES, loops=generated.MAX_LOOPS, decisions=1
        )
