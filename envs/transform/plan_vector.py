"""The vector of environments behind `gym.make_vec("TransformPlan-v0", ...)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from halidegym.envs.one_thread import OneThread
from halidegym.envs.transform.plan_env import TransformPlanEnv
from halidegym.envs.transform.plan_task import Observation, described
from halidegym.envs.vector_arguments import action_indices, check_no_wrappers, check_sizes
from halidegym.envs.vector_base import SeededVector
from halidegym.envs.vector_infos import columns
from halidegym.native._core import TransformState

Step = tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class TransformPlanVector(SeededVector[Observation]):
    """Many environments `TransformPlanEnv` that take their steps together; their observations are written below Python.

    `gym.make_vec("TransformPlan-v0", num_envs=N, ...)` makes one. It does what N single environments with the same arguments
    and seeds do, step for step: same observations, rewards, flags and infos as
    `gym.make_vec(..., vectorization_mode="sync")`, in each of Gymnasium's modes of reset, which `autoreset_mode` chooses:
    "NextStep" (default), "SameStep" or "Disabled". All share one source of costs.

    ```python
    import gymnasium as gym, halidegym, numpy as np

    envs = gym.make_vec("TransformPlan-v0", num_envs=8, n=(64, 1024), autoreset_mode="SameStep")
    observations, infos = envs.reset(seed=0)
    for _ in range(100):
        actions = infos["action_mask"].argmax(axis=1)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
    ```
    """

    metadata: dict[str, Any] = TransformPlanEnv.metadata

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **environment: Any,
    ) -> None:
        """See the class.

        Raises:
            InvalidParameter: an argument is out of its range.
            Error: see `TransformPlanEnv`.
        """
        check_sizes(num_envs, 1, 1)
        check_no_wrappers(environment)
        single = TransformPlanEnv(**environment)
        super().__init__(single, num_envs, autoreset_mode)
        self.task = single.task
        self._turn = OneThread()
        self._indices = [0] * num_envs
        self._states = [self.task.spaces[0].root()] * num_envs

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in each environment, or in those of `options["reset_mask"]`.

        Raises:
            InvalidParameter: `seed` or `reset_mask` are not one for each environment, or there are other options.
            ResetNeeded: `reset_mask` leaves out environments before all have been reset once.
        """
        self._turn.begin()
        try:
            chosen = self._reset(seed, options)
            observation, num_legal = self.task.view.look_at_all(self._states)
            return observation, _infos(observation, num_legal, chosen)
        finally:
            self._turn.end()

    def step(self, actions: ArrayLike) -> Step:
        """Decide the first open problem of each plan; see the class on what follows the end of an episode.

        Raises:
            ResetNeeded: no episode has begun, or one is over that is not reset by itself.
            InvalidParameter: `actions` are not an integer of 64 bits for each environment.
        """
        numbers = action_indices(actions, self.num_envs).tolist()
        self._turn.begin()
        try:
            was_over = self._checked_ends()
            illegal = np.zeros(self.num_envs, np.bool_)
            for i in np.flatnonzero(~was_over).tolist():
                self._states[i], is_legal = self.task.view.step(self._states[i], numbers[i])
                illegal[i] = not is_legal
            terminated = np.array([state.is_complete for state in self._states]) & ~was_over
            self._is_over = was_over | terminated
            rewards = np.zeros(self.num_envs)
            last: dict[int, dict[str, Any]] = {}
            for i in np.flatnonzero(terminated).tolist():
                rewards[i], last[i] = self.task.outcome(self._indices[i], self._states[i])
            infos: dict[str, Any] = {}
            resets = was_over
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                resets = terminated
                if last:
                    infos = self._final(terminated, illegal, last)
                    last = {}
            if resets.any():
                self._begin(resets)
            observation, num_legal = self.task.view.look_at_all(self._states)
            infos.update(_infos(observation, num_legal, self._everyone))
            if not resets.all():
                infos.update(_illegal(illegal, ~resets))
            infos.update(columns(last, self.num_envs))
            return observation, rewards, terminated, np.zeros(self.num_envs, np.bool_), infos
        finally:
            self._turn.end()

    def render(self) -> tuple[str, ...] | None:
        """The plan of each environment so far, in the form of the `render_mode`.

        Raises:
            ResetNeeded: no episode has begun.
        """
        if self.render_mode is None:
            return None
        self._check_has_begun()
        return tuple(map(described, self._states))

    def close_extras(self, **kwargs: Any) -> None:
        """Free what the costs hold; `close()` calls it."""
        self.task.costs.close()

    def tables(self, observations: Observation) -> Observation:
        """The observations with `steps` in two dimensions behind the first."""
        return self.task.tables(observations)

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool, (num_envs, A)."""
        observation, _ = self.task.view.look_at_all(self._states)
        return observation["action_mask"].astype(np.bool_)

    @property
    def states(self) -> tuple[TransformState, ...]:
        """The plans so far, immutable values."""
        return tuple(self._states)

    def _begin(self, chosen: NDArray[np.bool_]) -> None:
        for i in np.flatnonzero(chosen).tolist():
            self._indices[i] = self.task.draw_index(self._generators[i])
            self._states[i] = self.task.spaces[self._indices[i]].root()
        self._is_over = self._is_over & ~chosen

    def _final(
        self, ended: NDArray[np.bool_], illegal: NDArray[np.bool_], last: Mapping[int, dict[str, Any]]
    ) -> dict[str, Any]:
        """What is told of the last step of episodes that are followed by others at once."""
        observation, num_legal = self.task.view.look_at_all(self._states)
        observations = np.full(self.num_envs, None, object)
        for i in last:
            observations[i] = {name: array[i] for name, array in observation.items()}
        information = {
            **_infos(observation, num_legal, ended),
            **_illegal(illegal, ended),
            **columns(last, self.num_envs),
        }
        final = {"final_obs": observations, "final_info": information}
        return {**final, **{f"_{key}": ended.copy() for key in final}}


def _infos(observation: Observation, num_legal: NDArray[np.int64], told: NDArray[np.bool_]) -> dict[str, Any]:
    """The part of the information that all steps and resets have, of those that are told of."""
    infos: dict[str, Any] = {"action_mask": observation["action_mask"].copy(), "num_legal_decisions": num_legal.copy()}
    for array in infos.values():
        array[~told] = 0
    return {**infos, **{f"_{key}": told.copy() for key in infos}}


def _illegal(illegal: NDArray[np.bool_], stepped: NDArray[np.bool_]) -> dict[str, Any]:
    return {"illegal_action": illegal & stepped, "_illegal_action": stepped.copy()}
