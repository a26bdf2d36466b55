"""A problem as an environment plays it, with what is derived from it once."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

from halidegym.envs.problems.fingerprint import Fingerprint, fingerprint
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native import _core

_WIDTHS = (1, 2, 4, 8, 16, 32)

T = TypeVar("T")


class _FoundOnce(functools.cached_property[T]):
    """A property that is found when it is first asked for, by whichever threads ask.

    Before Python 3.12 the lock of its base is one for all objects: who needs one problem would wait for the search of
    another, as a pool's thread makes it.
    """

    def __init__(self, find: Callable[[Any], T]) -> None:
        super().__init__(find)
        self.lock = contextlib.nullcontext()


class PreparedProblem:
    """A problem, the rules and the cost model that it is scheduled with, and what follows from them.

    Attributes:
        problem: the problem.
        rules: what its search space allows.
        space: the search space.
        initial_state: the state in which nothing is decided.
        shape: the least sizes of an observation.
        fingerprint: of costs.
    """

    def __init__(
        self, problem: SchedulingProblem, rules: Rules, weights: _core.Weights, *, greedy_cost: float | None = None
    ) -> None:
        """See the class; `greedy_cost` is what greedy search finds, if that is known already."""
        self.problem = problem
        self.rules = rules
        self.space = rules.space(problem, weights)
        self.initial_state = self.space.initial_state()
        self.shape = _core.ObservationShape.of(self.space)
        self.fingerprint: Fingerprint = fingerprint(problem, weights)
        if greedy_cost is not None:
            self.greedy_cost = greedy_cost

    def __repr__(self) -> str:
        """What it is, in a line."""
        return f"PreparedProblem({self.problem!r}, {self.rules!r})"

    def check_has(self, state: _core.State) -> None:
        """Check that a state is of this problem, or of an equal one.

        Raises:
            InvalidParameter: it is of another one.
        """
        own, others = self.space, state.space
        if others is not own and others.problem.identity_bytes() != own.problem.identity_bytes():
            name, other = own.problem.name, others.problem.name
            difference = (
                "for another target, or with other cores or sizes, than" if other == name else f"and not of {name!r} as"
            )
            raise _core.InvalidParameter(
                f"the state is of {other!r}, {difference} it is here; give one of an environment with equal arguments"
            )

    def check_can_go_on(self, state: _core.State) -> None:
        """Check that decisions after a state are what they are here: of an equal problem, under equal rules and weights.

        Raises:
            InvalidParameter: they are others.
        """
        self.check_has(state)
        own, others = self.space, state.space
        if others is own:
            return
        rules = Rules.of(others)
        if rules != self.rules:
            raise _core.InvalidParameter(
                f"the state is under {rules}, and not under {self.rules} as it is here; give one of an environment with "
                "equal arguments"
            )
        self.check_weights_of(state)

    def check_weights_of(self, state: _core.State) -> None:
        """Check that the costs of a state are by the weights here.

        Raises:
            InvalidParameter: they are by others.
        """
        if state.space is not self.space and state.space.weights != self.space.weights:
            raise _core.InvalidParameter(
                "the cost model of the state has other weights than the one here; give one of an environment with equal "
                "arguments"
            )

    @property
    def greedy(self) -> _core.Solution:
        """What greedy search with the cost model finds; searched for when it is first asked for.

        Where greedy search comes to a dead end, the beam is doubled until it finds a schedule.

        Raises:
            SearchExhausted: not even a beam of 32 finds one.
        """
        if self._greedy is None:
            raise _core.SearchExhausted(
                f"Neither greedy search nor a beam of {_WIDTHS[-1]} finds a schedule of '{self.problem.name}'; a larger "
                "memory_limit or max_recompute allows more of them"
            )
        return self._greedy

    @_FoundOnce
    def greedy_cost(self) -> float:
        """The cost of the greedy schedule.

        Raises:
            SearchExhausted: see `greedy`.
            InvalidParameter: the weights rate it 0, so that no cost can be told relative to it.
        """
        cost = self.greedy.cost
        if not cost > 0:
            raise _core.InvalidParameter(
                f"By these weights, the greedy schedule of '{self.problem.name}' costs {cost:g}, and nothing can be told "
                "relative to that; give weights by which schedules cost something"
            )
        return cost

    @property
    def reference_cost(self) -> float:
        """What observations tell costs relative to: the greedy cost, or 1 if there is no greedy schedule."""
        try:
            return self.greedy_cost
        except _core.SearchExhausted:
            return 1.0

    @_FoundOnce
    def _greedy(self) -> _core.Solution | None:
        for beam_size in _WIDTHS:
            with contextlib.suppress(_core.SearchExhausted):
                return _core.beam_search(self.space, _core.BeamOptions(beam_size=beam_size, passes=1)).solutions[0]
        return None

    def __getstate__(self) -> dict[str, object]:
        """All but what is searched for again when it is asked for."""
        return {name: value for name, value in vars(self).items() if name not in ("_greedy", "greedy_cost")}

    def speedup(self, cost: float) -> float:
        """Cost of the greedy schedule / this cost; NaN if there is no greedy schedule."""
        try:
            return self.greedy_cost / cost
        except _core.SearchExhausted:
            return math.nan
