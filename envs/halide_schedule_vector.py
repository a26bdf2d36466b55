"""The vector of environments behind `gym.make_vec("HalideSchedule-v0", ...)`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from halidegym.envs import rendering
from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.observation import Observation, tables
from halidegym.envs.one_thread import OneThread
from halidegym.envs.outcome import outcomes
from halidegym.envs.prepared_problems import draw_index
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.rewards.base import Reward
from halidegym.envs.rewards.rewarded import Rewarded
from halidegym.envs.vector_arguments import action_indices, check_no_wrappers, check_sizes
from halidegym.envs.vector_base import SeededVector
from halidegym.envs.vector_infos import arrays
from halidegym.native import _core
from halidegym.native.checks import check_given

Step = tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class HalideScheduleVector(Rewarded, SeededVector[Observation]):
    """Many environments `HalideSchedule` that take their steps together, below Python, in threads if asked for.

    ## Description

    `gym.make_vec("HalideSchedule-v0", num_envs=N, ...)` makes one. It does what N single environments with the same
    arguments and seeds do, step for step and bit for bit, for any number of threads: same observations, rewards, flags and
    infos as `gym.make_vec(..., vectorization_mode="sync")`, in each of Gymnasium's modes of reset. Spaces, rewards and
    infos are those of `HalideSchedule`, with N in front.

    ## Arguments

    Those of `HalideSchedule`, and:

    | Argument | Default | Meaning |
    |---|---|---|
    | `num_envs` | 1 | number of environments |
    | `autoreset_mode` | `"NextStep"` | what follows the end of an episode, see below |
    | `copy` | `True` | observations belong to the caller; if not, they are views that the next call overwrites |
    | `threads` | 1 | that step the environments; the results do not depend on it |
    | `group_size` | 1 | neighbours that share the pipeline of each episode, see below |
    | `reward` | by cost | a `halidegym.rewards.Reward` for all environments: `RewardByCost("speedup")`, ... |

    `wrappers=` and `vector_kwargs=` of `make_vec` are not for native vectors, nor is `max_episode_steps=`: they are refused;
    `vectorization_mode="sync"` takes them.

    ## Reset and Episode End

    - `"NextStep"`: the step after an episode's end ignores the action and is the reset: reward 0, and the information of a
      reset. Rows of such steps are none to train on.
    - `"SameStep"`: the step that ends an episode resets at once. The observation is the first of the next episode,
      `infos["final_obs"][i]` the last of the one that ended, `infos["final_info"]` its information.
    - `"Disabled"`: `reset(options={"reset_mask": mask})` resets the environments chosen by an array of bool; a step with an
      environment whose episode is over raises `ResetNeeded`. Masks are taken in the other modes, too.

    `metadata["autoreset_mode"]` is the mode.

    ## Seeds, Pipelines and Groups

    `reset(seed=s)` seeds environment i with s + i, a list of seeds each environment on its own. With several pipelines,
    each environment draws its own at the beginning of each episode. In a group, all have the seed of its first
    environment: so the k-th episode of each of its members is about the same pipeline, whenever it begins. Seed groups
    as a whole, and reset them as a whole where an episode is not over.

    ## Information

    Arrays with N in front and, beside each `key`, the array `_key` of bool that says for whom it holds, as everywhere in
    Gymnasium. What is told always is for all, but after a reset of some for these alone.

    ```python
    import gymnasium as gym, halidegym, numpy as np

    envs = gym.make_vec("HalideSchedule-v0", num_envs=16, pipeline="harris", parallelism=16, autoreset_mode="SameStep")
    rng = np.random.default_rng(0)
    observations, infos = envs.reset(seed=0)
    for _ in range(100):
        actions = rng.integers(np.minimum(infos["num_legal_decisions"], 1024))
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        for i in np.flatnonzero(terminated):
            print(infos["final_info"]["cost"][i], rewards[i])
    ```
    """

    metadata: dict[str, Any] = HalideSchedule.metadata

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int = 1,
        group_size: int = 1,
        reward: Reward | None = None,
        **environment: Any,
    ) -> None:
        """See the class.

        Raises:
            InvalidParameter: an argument is out of its range, or they do not fit each other.
            OutOfResources: there cannot be so many threads.
            Error: see `HalideSchedule`.
        """
        check_sizes(num_envs, threads, group_size)
        check_given(bool, copy=copy)
        check_no_wrappers(environment)
        single = HalideSchedule(**environment)
        super().__init__(single, num_envs, autoreset_mode, group_size)
        self.reward = single.reward if reward is None else reward
        self._prepared = single.prepared_problems
        self._native = _core.VectorEnvironment(
            single.observation_shape,
            skip_forced=single.skip_forced,
            num_envs=num_envs,
            threads=threads,
        )
        self._terminated, self._illegal_action = self._native.terminated, self._native.illegal_action
        self.copy = copy
        self.skip_forced = single.skip_forced
        """Whether decisions without an alternative are taken by the environments themselves."""
        self._problems: list[PreparedProblem] = [single.prepared_problem] * num_envs
        self._turn = OneThread()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in each environment, or in those of `options["reset_mask"]`.

        Raises:
            InvalidParameter: `seed` or `reset_mask` are not one for each environment, or there are other options.
            ResetNeeded: `reset_mask` leaves out environments before all have been reset once.
            SearchExhausted: see `HalideSchedule.reset`.
        """
        self._turn.begin()
        try:
            chosen = self._reset(seed, options)
            return self._observation(), self._infos(chosen, np.zeros(self.num_envs, np.bool_))
        finally:
            self._turn.end()

    def step(self, actions: ArrayLike) -> Step:
        """Take a decision in each environment; see the class on what follows the end of an episode.

        Raises:
            ResetNeeded: no episode has begun, or one is over that is not reset by itself.
            InvalidParameter: `actions` are not an integer of 64 bits for each environment.
            Error: the end of an episode cannot be rated; it is over then.
        """
        indices = action_indices(actions, self.num_envs)
        self._turn.begin()
        try:
            is_over = self._checked_ends()
            self._native.step(indices, ~is_over)
            ended = self._terminated & ~is_over
            self._is_over = is_over | ended
            rewards, last = self._outcomes(ended)
            resets = is_over
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                resets = ended
                if last:
                    last = self._final(ended, last)
            if np.count_nonzero(resets):  # a fifth of the time of any()
                self._begin(resets)
            infos = {**self._infos(self._everyone, ~resets), **last}
            return self._observation(), rewards, ended, np.zeros(self.num_envs, np.bool_), infos
        finally:
            self._turn.end()

    def render(self) -> tuple[Any, ...] | None:
        """The current loop nest of each environment, in the form of the `render_mode`.

        Raises:
            ResetNeeded: no episode has begun.
        """
        if self.render_mode is None:
            return None
        self._check_has_begun()
        num_legal = self._native.num_legal_decisions.tolist()
        return tuple(
            rendering.render(self.render_mode, problem.problem.name, state, count)
            for problem, state, count in zip(self._problems, self.states, num_legal, strict=True)
        )

    def close_extras(self, **kwargs: Any) -> None:
        """Free what the reward holds; `close()` calls it."""
        self.reward.close()

    def tables(self, observations: Observation) -> Observation:
        """The observations with their tables in two dimensions behind the first; see `HalideSchedule.tables`."""
        return tables(observations, self._native.shape)

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool, (num_envs, max_decisions)."""
        return np.arange(self._native.shape.decisions) < self._native.num_legal_decisions[:, None]

    @property
    def prepared_problems(self) -> tuple[PreparedProblem, ...]:
        """The problem of each environment's current episode; in "SameStep", of the one that has just begun."""
        return tuple(self._problems)

    @property
    def problems(self) -> tuple[SchedulingProblem, ...]:
        """The same without rules and search spaces."""
        return tuple(problem.problem for problem in self._problems)

    @property
    def states(self) -> tuple[_core.State, ...]:
        """The partial schedules, immutable values."""
        return tuple(self._native.state(index) for index in range(self.num_envs))

    def _given_problems(self) -> tuple[SchedulingProblem, ...]:
        return self._prepared.given_problems()

    def _begin(self, chosen: NDArray[np.bool_]) -> None:
        """Begin episodes in the chosen environments."""
        if len(self._prepared) == 1 and self._has_begun:
            self.reward.prepare(self._problems[0])
            self._native.restart(chosen)
        else:
            self._begin_drawn(chosen)
        self._is_over = self._is_over & ~chosen

    def _begin_drawn(self, chosen: NDArray[np.bool_]) -> None:
        states: list[_core.State | None] = [None] * self.num_envs
        reference_costs = [1.0] * self.num_envs
        for index in np.flatnonzero(chosen).tolist():
            problem = self._prepared[draw_index(self._prepared, self._generators[index])]
            self.reward.prepare(problem)
            self._problems[index] = problem
            states[index] = problem.initial_state
            reference_costs[index] = problem.reference_cost
        self._native.start(states, reference_costs)

    def _outcomes(self, ended: NDArray[np.bool_]) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """The rewards, and what the last steps of episodes report."""
        rewards = np.zeros(self.num_envs)
        if not np.count_nonzero(ended):
            return rewards, {}
        indices = ended.nonzero()[0]
        costs = [None if math.isnan(cost) else cost for cost in self._native.cost[ended].tolist()]  # None in a dead end
        problems = [self._problems[index] for index in indices.tolist()]
        rewards[indices], told = outcomes(problems, self.reward, self._native.states(ended), costs)
        return rewards, arrays({key: (indices[who], values) for key, (who, values) in told.items()}, self.num_envs)

    def _observation(self) -> Observation:
        return self._native.copy_observation() if self.copy else self._native.observation

    def _final(self, ended: NDArray[np.bool_], last: dict[str, Any]) -> dict[str, Any]:
        """What is told of the last step of episodes that are followed by others at once."""
        observations = np.empty(self.num_envs, object)
        observations[ended] = self._native.copy_rows(ended)
        information = {**self._infos(ended, ended), **last}
        final = {"final_obs": observations, "final_info": information}
        return {**final, **{f"_{key}": ended.copy() for key in final}}

    def _infos(self, told: NDArray[np.bool_], stepped: NDArray[np.bool_]) -> dict[str, Any]:
        """The information of a reset or a step of the environments `told`; of a step of those that `stepped`."""
        infos: dict[str, Any] = self._native.information(told)
        masks = {f"_{key}": told.copy() for key in infos}
        if np.count_nonzero(stepped):
            infos["illegal_action"] = self._illegal_action & stepped
            masks["_illegal_action"] = stepped.copy()
        return {**infos, **masks}
