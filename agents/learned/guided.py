"""What the agents that a learned policy guides have in common."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from halidegym.agents.budget import Budget
from halidegym.agents.learned.policies import load_networks, policies_of
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.plan import Plan
from halidegym.agents.progress import OnProgress
from halidegym.agents.spaces import AnySpace
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import GuidanceOptions, GuidedSpace, InvalidParameter, Policy, SearchResult, Space

_DEFAULTS = GuidanceOptions()
_Agent = TypeVar("_Agent", bound="GuidedAgent")


@dataclass(frozen=True, kw_only=True)
class GuidedAgent(NativeSearch):
    """Base of the agents whose random decisions are drawn from a policy.

    A policy is *blind* if it reads the descriptions of the decisions alone, which costs no evaluation; with a shortlist it
    also reads the features of the children of some decisions, drawn blindly without repetition (Kool et al. 2019,
    "Stochastic Beams and Where to Find Them"), and each of them is an evaluation. States that are met again are not put
    through the network again. The network runs in C++; PyTorch is not needed.

    Attributes:
        policy: name of a policy of the package, or the path of a file that `halidegym train` wrote; or a sequence of these,
            of which one, by lot, draws each schedule: what one is blind for, another one may see.
        temperature: of the draws; 1 for the policy's own probabilities, 0 for its favourites.
        shortlist: how many children are read at each decision; 0 for a blind policy.
        shortlist_share: of the schedules that are drawn, how many are from shortlists, and of a tree's nodes; the others
            are drawn blindly.
        max_decisions: of a state with more legal decisions, the policy looks at so many, evenly spread.
    """

    policy: str | Path | Sequence[str | Path] = "default"
    temperature: float = _DEFAULTS.temperature
    shortlist: int = _DEFAULTS.shortlist
    shortlist_share: float = _DEFAULTS.shortlist_share
    max_decisions: int = _DEFAULTS.max_decisions

    def __post_init__(self) -> None:
        super().__post_init__()
        policies = policies_of(self.policy)
        if not isinstance(self.policy, str | Path):
            object.__setattr__(self, "policy", policies)
        self._guidance(seed=0)

    @classmethod
    def load(cls: type[_Agent], policy: str | Path | Sequence[str | Path] = "default", **parameters: Any) -> _Agent:
        """Return an agent with a policy, or several, that have been read and found usable.

        Args:
            policy: see the class.
            parameters: of the agent.

        Raises:
            InvalidParameter: there is no such policy, or a parameter is out of its range.
            FormatError: the file is damaged, of another version, or was trained for other observations.
        """
        load_networks(policy)
        return cls(policy=policy, **parameters)

    def check_files(self) -> None:
        """See `Agent.check_files`."""
        super().check_files()
        load_networks(self.policy)

    def _other_temperature(self) -> float | None:
        """That half of the schedules are drawn at; None for `temperature`."""
        return None

    def _guidance(self, seed: int) -> GuidanceOptions:
        return GuidanceOptions(
            temperature=self.temperature,
            other_temperature=self._other_temperature(),
            shortlist=self.shortlist,
            shortlist_share=self.shortlist_share,
            max_decisions=self.max_decisions,
            seed=seed,
        )

    def _plan(self, problem: SchedulingProblem, seed: int, search: Callable[[Space], SearchResult]) -> Plan:
        load_networks(self.policy)  # like the weights of the cost model, before the clock starts
        return super()._plan(problem, seed, search)

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> SearchResult:
        start = time.perf_counter()
        guided = self._guided(space, seed)  # encodes the problem, which the budget is to pay for, too
        return self._search_guided(guided, budget.after(time.perf_counter() - start), seed, on_progress)

    def _guided(self, space: AnySpace, seed: int) -> GuidedSpace:
        if not isinstance(space, Space):
            raise InvalidParameter(f"{self.name} schedules pipelines only; for another search space take a planner")
        policies = [Policy(network, space) for network in load_networks(self.policy)]
        return GuidedSpace(space, policies, self._guidance(seed))

    @abstractmethod
    def _search_guided(
        self, space: GuidedSpace, budget: Budget, seed: int, on_progress: OnProgress | None
    ) -> SearchResult:
        """Search a space whose random decisions the policy draws."""
