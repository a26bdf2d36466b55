"""Beam search by cost and by what a learned policy says of the children."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halidegym.agents.budget import Budget
from halidegym.agents.learned.corrected_space import CorrectedSpace
from halidegym.agents.learned.policies import load_network
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.progress import OnProgress
from halidegym.agents.spaces import AnySpace
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import InvalidParameter, Policy, SearchResult, Solution, Space, State
from halidegym.native.checks import check_number


@dataclass(frozen=True)
class PolicyBeam(NativeSearch):
    """A beam search that ranks partial schedules by log(cost) - weight * log(probability of their last decision).

    The probability is that of the head of a policy that reads children, which are evaluated for their costs anyway: the
    evaluations are those of the same beam by cost. Complete schedules are ranked by cost alone.

    Attributes:
        policy: name of a policy of the package, or the path of a file that `halidegym train` wrote.
        weight: of the policy; 0 for none.
        beam_size, passes: see `BeamSearch`.
    """

    policy: str | Path = "default"
    weight: float = 0.05
    beam_size: int = BeamSearch.beam_size
    passes: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(weight=self.weight)
        self._beam()

    @classmethod
    def load(cls, policy: str | Path = "default", **parameters: Any) -> PolicyBeam:
        """Return an agent with a policy that has been read and found usable; see `GuidedAgent.load`."""
        load_network(policy)
        return cls(policy=policy, **parameters)

    def _corrected(self, space: AnySpace) -> CorrectedSpace:
        if not isinstance(space, Space):
            raise InvalidParameter(f"{self.name} schedules pipelines only; for another search space take a planner")
        return CorrectedSpace(space, Policy(load_network(self.policy), space), self.weight)

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        return self._beam()._search(self._corrected(space), budget, seed, on_progress)

    def _state(self, solution: Solution[Any]) -> State:
        state: State = solution.state.state
        return state

    def _forwards(self, result: SearchResult[Any]) -> int:
        forwards: int = result.solutions[0].state.space.forwards
        return forwards

    def _beam(self) -> BeamSearch:
        return BeamSearch(beam_size=self.beam_size, passes=self.passes)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return self._beam()._bar(problem, budget)
