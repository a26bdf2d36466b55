"""How fast complete random schedules are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from halidegym.agents.planners.mcts import MCTS
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import rollout_speed


@dataclass(frozen=True)
class RolloutSpeed:
    """Speed of random rollouts on one problem.

    Attributes:
        drawn: complete schedules per second of CPU time, one child drawn and built per decision.
        built: the same with all children of every state on the way built.
    """

    drawn: float
    built: float

    @property
    def factor(self) -> float:
        """How many times faster drawing is."""
        return self.drawn / self.built


def measure_rollouts(problem: SchedulingProblem, *, seconds: float = 1.0, seed: int = 0) -> RolloutSpeed:
    """Measure random rollouts from the empty schedule to the cost of a complete one, on one core.

    The two kinds take turns until each has used `seconds` of CPU time.
    """
    return RolloutSpeed(*rollout_speed(Rules().space(problem), seconds=seconds, seed=seed))


def measure_ensemble(problem: SchedulingProblem, *, threads: int, simulations: int, seed: int = 0) -> float:
    """Return the simulations per second of wall-clock time of the paper's ensemble without its greedy tree.

    With equal `simulations` and seeds, the work is the same for any number of threads.
    """
    plan = MCTS(greedy_trees=0, threads=threads).plan(problem, evaluations=simulations, seed=seed)
    assert plan.evaluations is not None, "tree search counts them"
    return plan.evaluations / plan.seconds
