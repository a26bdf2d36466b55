"""What environments of transforms have in common, one or many: spaces, actions, observations, the end of an episode."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from halidegym.envs.rewards.base import RewardForm, check_form, reward_of
from halidegym.envs.transform.costs import ModelCosts, PlanCosts, PlanRating
from halidegym.envs.transform.plan import MAX_SIZE
from halidegym.native._core import InvalidParameter, TransformSpace, TransformState, TransformView
from halidegym.native.checks import (
    check_at_least,
    check_given,
    check_number,
    check_present,
    checked_integers,
    is_number,
    shown,
)

Observation: TypeAlias = dict[str, Any]
Baseline: TypeAlias = Literal["dp"] | str | float
"""Of what a plan's speed is told: "dp", the text of a plan, or microseconds."""
SpaceName: TypeAlias = Literal["basic", "lanes", "wide"]
"""Of the plans that are searched, see `TransformSpace`."""

PROBLEM_COLUMNS = 14
STEP_COLUMNS = 17

_MAX_CONTEXT = 10**6  # with which estimates reach 14.5, of the 20 that observations have room for


@dataclass(frozen=True)
class PlanState:
    """A point of an episode, to come back to. Immutable.

    Attributes:
        space_index: which of the environment's sizes.
        state: the plan so far.
    """

    space_index: int
    state: TransformState


class PlanTask:
    """The task of an environment.

    Args:
        n: size of the transform, or several.
        room: further sizes that observations and actions have room for.
        space: see `TransformSpace`.
        lanes: likewise.
        context: likewise; at most a million.
        baseline: see `Baseline`.
        form: of the reward at the end.
        estimates: whether observations have the model's.
        costs: of complete plans.

    Raises:
        InvalidParameter: an argument is out of its range.
    """

    def __init__(
        self,
        n: int | Sequence[int] = 1024,
        *,
        room: int | Sequence[int] | None = None,
        space: SpaceName = "basic",
        lanes: Sequence[int] | None = None,
        context: float = 0.0,
        baseline: Baseline = "dp",
        form: RewardForm = "log_speedup",
        estimates: bool = True,
        costs: PlanCosts | None = None,
    ) -> None:
        check_given(bool, estimates=estimates)
        check_form(form)
        check_number(0, _MAX_CONTEXT, **check_present(context=context))
        lanes = None if lanes is None else checked_integers("lanes", lanes, 1)
        self.spaces, others = (
            tuple(TransformSpace(size, space=space, order="first", lanes=lanes, context=context) for size in sizes)
            for sizes in (_sizes("n", n), () if room is None else _sizes("room", room))
        )
        if not self.spaces:
            raise InvalidParameter("n=() has no size: give one, such as 1024, or several")
        if costs is not None and not isinstance(costs, PlanCosts):
            raise InvalidParameter(
                f"costs={shown(costs)} have not the methods of PlanCosts; give such, or None for the model"
            )
        self.view = TransformView(self.spaces + others, estimates=estimates)
        self.estimates = estimates
        self.costs: PlanCosts = ModelCosts() if costs is None else costs
        self.form: RewardForm = form
        self._baseline = self._checked_baseline(baseline)
        self._baselines: dict[int, float] = {}
        self.action_space = spaces.Discrete(len(self.view.actions))
        self.observation_space = self._observation_space()

    def draw_index(self, generator: np.random.Generator) -> int:
        """The index of the size of the next episode."""
        return int(generator.integers(len(self.spaces))) if len(self.spaces) > 1 else 0

    def baseline_of(self, index: int) -> float:
        """Microseconds that plans of a size are compared with."""
        if index not in self._baselines:
            space = self.spaces[index]
            if isinstance(self._baseline, float):
                self._baselines[index] = self._baseline
            elif self._baseline == "dp":
                self._baselines[index] = self.costs.baseline(space)
            else:
                self._baselines[index] = self._rated(space, self._baseline).microseconds
        return self._baselines[index]

    def outcome(self, index: int, state: TransformState) -> tuple[float, dict[str, Any]]:
        """The reward of a complete plan, and the part of the information that only the last step has."""
        space, baseline = self.spaces[index], self.baseline_of(index)
        rating = self._rated(space, state.text)
        return reward_of(rating.microseconds, baseline, self.form), {
            "cost": rating.microseconds,
            "speedup": baseline / rating.microseconds,
            "plan": state.text,
            "fingerprint": self.costs.fingerprint(space),
            **rating.info,
        }

    def tables(self, observation: Mapping[str, NDArray[Any]]) -> Observation:
        """The observation with its table in two dimensions: one row a step."""
        steps = observation["steps"]
        return {**observation, "steps": steps.reshape(*steps.shape[:-1], self.view.rows, STEP_COLUMNS)}

    def _rated(self, space: TransformSpace, plan: str) -> PlanRating:
        rating = self.costs.rate(space, plan)
        if not isinstance(rating, PlanRating) or not is_number(rating.microseconds) or not rating.microseconds > 0:
            raise InvalidParameter(
                f"{type(self.costs).__name__}.rate returned {shown(rating)}: return a PlanRating(microseconds, info) with a "
                "positive number"
            )
        return rating

    def _checked_baseline(self, baseline: Baseline) -> str | float:
        if isinstance(baseline, str):
            if baseline != "dp":
                for space in self.spaces:
                    if not space.state(baseline).is_complete:
                        raise InvalidParameter(f"baseline={shown(baseline)} has open problems: give a complete plan")
            return baseline
        if not is_number(baseline) or not 0 < float(baseline) < math.inf:
            raise InvalidParameter(
                f'baseline={shown(baseline)}: give "dp", the text of a plan, or a positive number of microseconds'
            )
        return float(baseline)

    def _observation_space(self) -> spaces.Dict:
        rows, actions = self.view.rows, len(self.view.actions)
        columns = np.full((rows, STEP_COLUMNS), 64, np.float32)
        columns[:, PROBLEM_COLUMNS] = rows
        columns[:, PROBLEM_COLUMNS + 1] = actions
        columns[:, PROBLEM_COLUMNS + 2] = 2
        high = columns.reshape(-1)
        return spaces.Dict(
            {
                "problem": spaces.Box(0, 64, (PROBLEM_COLUMNS,), np.float32),
                "steps": spaces.Box(np.zeros_like(high), high),
                "step_mask": spaces.MultiBinary(rows),
                **({"estimates": spaces.Box(-20, 20, (actions,), np.float32)} if self.estimates else {}),
                "action_mask": spaces.MultiBinary(actions),
            }
        )


def _sizes(name: str, given: object) -> tuple[int, ...]:
    if isinstance(given, np.ndarray):
        given = given.tolist()  # an array of no dimensions is a size
    sizes = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    for size in sizes:
        check_at_least(2, MAX_SIZE, **check_present(**{name: size}))
    return sizes


def described(state: TransformState) -> str:
    """Text of a plan: the transform, the cost by the model, and the steps."""
    return f"transform {state.space.n}, {state.model_cost:.4g} us by the model\n{indented(state.text)}"


def indented(text: str) -> str:
    """A plan with a line for each step, indented by its level."""
    lines, level, line = [], 0, ""
    for character in text:
        if character in "()":
            if line.strip():
                lines.append("  " * level + line.strip())
            line = ""
            level += 1 if character == "(" else -1
        else:
            line += character
    if line.strip():
        lines.append("  " * level + line.strip())
    return "\n".join(lines)
