"""Rewards by the cost model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.rewards.base import Baseline, Rating, Reward, RewardForm, cost_here, reward_of
from halidegym.envs.rewards.wrapper import ScheduleReward
from halidegym.native._core import InvalidParameter, State


class RewardByCost(Reward):
    """Rates schedules by the cost model: deterministic and cheap. Times are its costs (milliseconds as trained)."""

    def baseline_time(self, problem: PreparedProblem) -> float:
        """Cost of the baseline.

        Raises:
            InvalidParameter: the baseline is a plan for another problem, or one that has no cost by the same weights.
            SearchExhausted: greedy search finds no schedule within the problem's limits.
        """
        if self.baseline == "greedy":
            return problem.greedy_cost
        plan = self.baseline_plan(problem)
        if plan is None:
            assert isinstance(self.baseline, int | float)
            return float(self.baseline)
        cost = cost_here(plan, problem)
        if cost is None:
            raise InvalidParameter(
                "The baseline is a plan without a cost by the weights of the environment: use one of an agent with the same "
                "weights, or a number"
            )
        return cost

    def prepare(self, problem: PreparedProblem) -> None:
        """See `Reward`; a plan as the baseline needs a cost.

        Raises:
            InvalidParameter, SearchExhausted: see `baseline_time`.
        """
        self.baseline_time(problem)

    def rate(self, problem: PreparedProblem, state: State, cost: float | None = None) -> Rating:
        """See `Reward`.

        Raises:
            InvalidParameter: decisions can still be made, or costs of the state are by other weights than the problem's.
            SearchExhausted: see `baseline_time`.
        """
        if cost is None:
            problem.check_weights_of(state)
        return super().rate(problem, state, cost)

    def rate_schedule(self, problem: PreparedProblem, state: State, cost: float) -> Rating:
        """Rate a schedule by its cost."""
        return Rating(reward_of(cost, self._baseline(problem), self.form), {})

    def rate_all(
        self, problems: Sequence[PreparedProblem], states: Sequence[State], costs: Sequence[float | None]
    ) -> tuple[list[float], list[dict[str, Any]]]:
        """See `Reward`. Complete schedules are rated without a call for each, which takes a vector most of this time."""
        known = [cost for cost in costs if cost is not None]
        if type(self) is not RewardByCost or len(known) < len(costs):  # whoever derives from it may rate in another way
            return super().rate_all(problems, states, costs)
        baselines = {problem: self._baseline(problem) for problem in set(problems)}
        form = self.form
        rewards = [reward_of(cost, baselines[problem], form) for problem, cost in zip(problems, known, strict=True)]
        return rewards, [{}] * len(known)

    def _baseline(self, problem: PreparedProblem) -> float:
        return 1.0 if self.form == "inverse_time" else self.baseline_time(problem)


class CostModelReward(ScheduleReward):
    """Rewards schedules by the cost model: deterministic and cheap.

    Args:
        env: an environment around `HalideSchedule`.
        form: see `Reward`.
        baseline: see `Reward`; a number is a cost in the cost model's unit, milliseconds as trained.

    Raises:
        InvalidParameter: the form or the baseline is unknown, or the environment is none of schedules.
    """

    def __init__(self, env: gym.Env[Any, Any], form: RewardForm = "log_speedup", baseline: Baseline = "greedy") -> None:
        super().__init__(env, RewardByCost(form, baseline), form=form, baseline=baseline)
