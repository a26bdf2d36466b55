"""What the benchmark asks of a kind of problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from halidegym.agents.agent import Agent
from halidegym.envs.timing.measurements import Comparison, TimingSettings


@dataclass(frozen=True)
class Solution:
    """What an agent found, as the file of a cell keeps it.

    Attributes:
        problem_hash: of the problem.
        schedule_key: of the schedule or plan, equal in every process.
        plan: as JSON can hold it. Of any kind it has the agent, the seed, the cost, counts, the history, and a fingerprint
            with the problem's hash.
        scheduled: what a reference autoscheduler made of a pipeline, in base64; empty for all others.
    """

    problem_hash: str
    schedule_key: str
    plan: dict[str, Any]
    scheduled: str = ""


class Problem(Protocol):
    """A problem in the process that solves it or looks at solutions."""

    @property
    def hash(self) -> str:
        """Equal for equal problems in every process."""

    def solve(self, agent: Agent, seed: int, budget: Mapping[str, Any]) -> Solution:
        """Let an agent search, with a budget as `Agent.plan` takes it."""

    def verify(self, found: Solution, agent: Agent | None, again: bool) -> bool:
        """Look whether a solution is what it claims to be.

        Args:
            found: the solution.
            agent: that found it; None if it is none of this package.
            again: run it again if it takes no decisions that could be replayed.

        Returns:
            True if all of it was computed again; False if some of it can only be believed.

        Raises:
            Error: it is not; its text says why.
        """


class ProblemKind(Protocol):
    """Problems of one kind, by their names."""

    def takes(self, name: str) -> bool:
        """Whether the name is one of this kind."""

    def check(self, name: str) -> None:
        """Raise InvalidParameter if there is no such problem, or another Error if its record cannot be used."""

    def is_shared(self, name: str) -> bool:
        """Whether it is the same everywhere, and making it reads no file and runs no code of a user."""

    def measures(self, name: str) -> bool:
        """Whether costs are times that are taken during a search, so that nothing else should run beside it."""

    def remembers(self, name: str) -> bool:
        """Whether what one search has measured answers the next, so that seconds would be worth more to later ones."""

    def load(self, name: str, target: str, parallelism: int) -> Problem:
        """Make the problem, in a process that has made no Funcs yet."""

    def compare(
        self,
        name: str,
        target: str,
        parallelism: int,
        found: Mapping[str, Solution],
        settings: TimingSettings,
        rounds: int,
    ) -> dict[str, Comparison]:
        """Time solutions in turns.

        Args:
            name: of the problem.
            target: of its schedules.
            parallelism: likewise.
            found: the solutions by their keys, at least one. The first one is the baseline.
            settings: how to time.
            rounds: how many turns each takes at most.

        Returns:
            By key, how many times as fast as the baseline.

        Raises:
            Error: they cannot be timed.
        """
