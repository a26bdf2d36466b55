"""Environments on the nodes of a Ray cluster, stepped there for a learner that is here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvIndices

from halidegym.envs.arguments import check_no_options
from halidegym.envs.observation import Observation
from halidegym.envs.processes.ray_cluster import RayCluster
from halidegym.envs.processes.replayed import Replayed
from halidegym.native._core import InvalidParameter
from halidegym.training.episodes.environments import make_environments
from halidegym.training.episodes.settings import EpisodeSettings

_LOOK_S = 1.0  # between two looks at a step
_MASK = "action_masks"

Call: TypeAlias = tuple[str, Any]
"""What to do, and with what."""


class RolloutActors(VecEnv):
    """The environments of `make_environments`, whole groups of which are actors, each on one CPU.

    Whatever their number, each environment does what it does in one process. If an actor dies, Ray starts it again, and it
    repeats its steps since the last reset that had seeds, as that of each rollout has.

    Args:
        settings: of the training; rewards are costs.
        group_size: neighbours that share the pipeline of each episode.

    Raises:
        InvalidParameter: rewards are run times.
        Error: there is no connection to the Ray cluster, its nodes are not alike, or environments cannot be made there.
    """

    def __init__(self, settings: EpisodeSettings, group_size: int = 1) -> None:
        if settings.reward != "cost":
            raise InvalidParameter(
                f"reward={settings.reward} does not go with workers on a Ray cluster: run times are of one machine, and "
                "recorded there; leave out the workers, or give reward: cost"
            )
        self._cluster = RayCluster()
        try:
            groups = settings.num_envs // group_size
            bounds = np.linspace(0, groups, min(groups, self._cluster.num_cpus) + 1).round().astype(int) * group_size
            self._parts = [slice(*part) for part in zip(bounds.tolist(), bounds.tolist()[1:], strict=False)]
            self._actors = [
                Replayed(
                    self._cluster,
                    hold_environments,
                    settings.model_copy(update={"num_envs": part.stop - part.start, "threads": 1}),
                    group_size,
                )
                for part in self._parts
            ]
            self._begin([("spaces", None)] * len(self._parts))
            observation_space, action_space = self._results()[0]
        except BaseException:
            self._cluster.close()
            raise
        self._observations: Observation = {}
        super().__init__(settings.num_envs, observation_space, action_space)

    def reset(self) -> Observation:
        """Begin an episode in each environment, with the seeds that `seed` has set."""
        for options in self._options:
            check_no_options(options)
        seeds = self._seeds
        self._begin([("reset", seeds[part]) for part in self._parts], anew=seeds[0] is not None)
        results = self._results()
        self._observations = _joined([observations for observations, _ in results])
        self.reset_infos = [info for _, infos in results for info in infos]
        self._reset_seeds()
        self._reset_options()
        return self._observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Have these actions taken."""
        self._begin([("step", actions[part]) for part in self._parts])

    def step_wait(self) -> tuple[Observation, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Wait until the actions of `step_async` have been taken."""
        observations, rewards, ends, rows, resets = zip(*self._results(), strict=True)
        self._observations = _joined(observations)
        self.reset_infos = [info for infos in resets for info in infos]
        return self._observations, np.concatenate(rewards), np.concatenate(ends), [row for part in rows for row in part]

    def close(self) -> None:
        """End the actors."""
        self._cluster.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """What `MaskablePPO` asks for; nothing else is known here.

        Raises:
            AttributeError: it is something else.
        """
        if attr_name not in ("render_mode", _MASK):
            raise AttributeError(f"{attr_name} of environments on a Ray cluster is not known here")
        return [None] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set nothing.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{attr_name} cannot be set for environments on a Ray cluster")

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """The rows of `action_masks`.

        Raises:
            AttributeError: another method is asked for.
        """
        if method_name != _MASK:
            raise AttributeError(f"{method_name} of environments on a Ray cluster cannot be called from here")
        masks = np.asarray(self._observations["action_mask"]).astype(bool)
        return [masks[index] for index in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: VecEnvIndices = None) -> list[bool]:
        """No: there are no single environments."""
        return [False] * len(list(self._get_indices(indices)))

    def _begin(self, calls: Sequence[Call], *, anew: bool = False) -> None:
        for actor, call in zip(self._actors, calls, strict=True):
            actor.begin(call, anew=anew)

    def _results(self) -> list[Any]:
        for actor in self._actors:
            while not actor.is_done(_LOOK_S):
                pass
        return [actor.result() for actor in self._actors]


def hold_environments(settings: EpisodeSettings, group_size: int) -> Callable[[Call], Any]:
    """Hold environments on a node."""
    envs = make_environments(settings, group_size)

    def call(what_and_with: Call) -> Any:
        what, argument = what_and_with
        if what == "spaces":
            return envs.observation_space, envs.action_space
        if what == "reset":
            if argument[0] is not None:
                envs.seed(argument[0])  # of the first; each other has one more than the one before it
            return envs.reset(), envs.reset_infos
        envs.step_async(argument)
        return (*envs.step_wait(), envs.reset_infos)

    return call


def _joined(parts: Sequence[Observation]) -> Observation:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
