"""Points of an episode as values."""

from __future__ import annotations

from dataclasses import dataclass

from halidegym.envs.prepared_problems import PreparedProblems
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.native._core import InvalidParameter, State


@dataclass(frozen=True)
class EpisodeState:
    """A point of an episode, to come back to: see `HalideSchedule.clone_state`. Immutable.

    Attributes:
        problem_index: which of the environment's problems.
        state: the partial schedule.
        is_over: whether the episode had ended.
    """

    problem_index: int
    state: State
    is_over: bool

    def problem_in(self, problems: PreparedProblems) -> PreparedProblem:
        """Which of the problems of an environment it is about.

        Raises:
            InvalidParameter: it is of an environment of other pipelines, rules or weights.
        """
        if not 0 <= self.problem_index < len(problems):
            raise InvalidParameter(
                f"the state is of problem {self.problem_index} of an environment, and here are {len(problems)}; give one of "
                "an environment with equal arguments"
            )
        problem = problems[self.problem_index]
        problem.check_can_go_on(self.state)
        return problem
