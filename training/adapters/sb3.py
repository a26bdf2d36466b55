"""Native vectors of environments for stable-baselines3 and sb3-contrib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from halidegym.envs.arguments import check_no_options
from halidegym.envs.halide_schedule_vector import HalideScheduleVector
from halidegym.envs.observation import Observation
from halidegym.native._core import InvalidParameter

try:
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvIndices
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "This adapter needs stable-baselines3, which is not installed: pip install halidegym[train]", name=error.name
    ) from error

# What stable-baselines3 asks of each environment: the vector's values of all, and what the vector calls those of any one.
_OF_EACH = {
    "problem": "problems",
    "prepared_problem": "prepared_problems",
    "state": "states",
    "np_random": "np_random",
    "np_random_seed": "np_random_seed",
}
_OF_ANY = {"observation_space": "single_observation_space", "action_space": "single_action_space"}
# What is told of the episode that has ended; the last one by Gymnasium's RecordEpisodeStatistics around the vector.
_FINAL = ("final_obs", "final_info", "episode")


class ScheduleVecEnv(VecEnv):
    """A vector of `HalideSchedule` as a `VecEnv`.

    Masks come from the vector in one call, `env_method("action_masks")`, which is how `MaskablePPO` asks for them. At the
    end of an episode, `infos[i]` is the information of its last step, with the key `terminal_observation`; that of the
    reset which follows is in `reset_infos`. `VecMonitor` around it counts the episodes, or Gymnasium's
    `RecordEpisodeStatistics` around the vector (before Gymnasium 1.4, it leaves out the first step of all but the first).

    ```python
    import gymnasium as gym, halidegym
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecMonitor
    from halidegym.training.adapters.sb3 import ScheduleVecEnv

    envs = gym.make_vec(
        "HalideSchedule-v0", num_envs=8, pipeline="harris", max_decisions=256, autoreset_mode="SameStep"
    )
    model = MaskablePPO("MultiInputPolicy", VecMonitor(ScheduleVecEnv(envs)), n_steps=128, seed=0)
    model.learn(8_192)
    ```

    Args:
        envs: the vector, or a wrapper around it; it resets in the same step, and copies what it returns.

    Raises:
        InvalidParameter: it does not, or is no vector of schedules.
    """

    def __init__(self, envs: gym.vector.VectorEnv[Any, Any, Any]) -> None:
        native = getattr(envs, "unwrapped", None)
        if not isinstance(native, HalideScheduleVector):
            raise InvalidParameter(
                f'envs={envs} is no native vector of schedules: use gym.make_vec("HalideSchedule-v0", ...)'
            )
        if native.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP or not native.copy:
            raise InvalidParameter(
                f"envs={envs} must copy what it returns, and reset in the step that ends an episode: use "
                'gym.make_vec(..., autoreset_mode="SameStep", copy=True)'
            )
        self.envs = envs
        self.native = native
        self._actions: NDArray[np.int64] | None = None
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> Observation:
        """Begin an episode in each environment, with the seeds that `seed` has set.

        Raises:
            InvalidParameter: there are options, and the environments have none; or a wrapper around the vector tells
                information in another form than the vector.
        """
        for options in self._options:
            check_no_options(options)
        seeds = None if all(seed is None for seed in self._seeds) else self._seeds
        observations, infos = self.envs.reset(seed=seeds)  # type: ignore[arg-type]
        if not isinstance(infos, dict):
            raise InvalidParameter(
                f"envs={self.envs} tells information as a {type(infos).__name__}: leave out DictInfoToList, since this "
                "adapter makes the list"
            )
        self.reset_infos = [_row(infos, index) for index in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return observations  # type: ignore[no-any-return]

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take these actions when `step_wait` is called: the step itself has threads."""
        self._actions = actions

    def step_wait(self) -> tuple[Observation, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Take the actions of `step_async`."""
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        ends, final = terminated | truncated, infos.get("final_info", {})
        rows = []
        for index in range(self.num_envs):
            row = _row(infos, index)
            if ends[index]:
                self.reset_infos[index] = row
                row = _row(final, index)
                row["terminal_observation"] = infos["final_obs"][index]
                row["TimeLimit.truncated"] = bool(truncated[index] and not terminated[index])
                if "episode" in infos:
                    row["episode"] = {key: values[index] for key, values in infos["episode"].items()}
            rows.append(row)
        return observations, rewards.astype(np.float32), ends, rows

    def close(self) -> None:
        """Close the vector."""
        self.envs.close()

    def has_attr(self, attr_name: str) -> bool:
        """Whether `get_attr` knows the name."""
        return hasattr(self.native, _OF_EACH.get(attr_name, attr_name))

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of environments: their problem, state or generator, or what is the same for all.

        Raises:
            AttributeError: there is none.
        """
        if attr_name in _OF_EACH:
            values = getattr(self.native, _OF_EACH[attr_name])
            return [values[index] for index in self._chosen(indices)]
        return [getattr(self.native, _OF_ANY.get(attr_name, attr_name))] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute, such as `reward`, for all environments at once.

        Raises:
            AttributeError: there is none, or it is to be set for some.
        """
        if not hasattr(self.native, attr_name):
            raise AttributeError(f"a native vector has no {attr_name} that could be set")
        if len(self._chosen(indices)) < self.num_envs:
            raise AttributeError(f"{attr_name} cannot be set for environments {indices} of a native vector")
        setattr(self.native, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the vector, whose result has a row for each environment: `action_masks`, `render`.

        Raises:
            AttributeError: there is none.
        """
        rows = getattr(self.native, method_name)(*method_args, **method_kwargs)
        return [None if rows is None else rows[index] for index in self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: Any = None) -> list[bool]:
        """No: there are no single environments."""
        return [False] * len(self._chosen(indices))

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """A picture of each environment, if the `render_mode` is "rgb_array"."""
        return self.env_method("render")

    def _chosen(self, indices: VecEnvIndices) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [int(indices)] if isinstance(indices, int | np.integer) else list(indices)


def _row(infos: dict[str, Any], index: int) -> dict[str, Any]:
    """What the information of a vector says about one environment, but for the end of its episode."""
    return {
        key: _row(values, index) if isinstance(values, dict) else values[index]
        for key, values in infos.items()
        if key not in _FINAL and f"_{key}" in infos and infos[f"_{key}"][index]
    }
