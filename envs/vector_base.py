"""What vectors of environments share: spaces, generators, and which episodes are over."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from halidegym.envs.generators import Generators
from halidegym.envs.specification import Specified
from halidegym.envs.vector_arguments import autoreset_mode_of, reset_mask_of, seeds_of

ObservationT = TypeVar("ObservationT")


class SeededVector(Specified, VectorEnv[ObservationT, ArrayLike, NDArray[Any]], ABC):
    """Many environments with a generator of random numbers each, in each of Gymnasium's modes of reset."""

    def __init__(
        self, single: gym.Env[Any, Any], num_envs: int, autoreset_mode: str | AutoresetMode, group_size: int = 1
    ) -> None:
        """Take over spaces and metadata of a single environment.

        Raises:
            InvalidParameter: there is no such mode.
        """
        self.autoreset_mode = autoreset_mode_of(autoreset_mode)
        self.metadata = {**single.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = single.render_mode
        self.num_envs = num_envs
        self.single_observation_space = single.observation_space
        self.observation_space = batch_space(single.observation_space, num_envs)
        self.single_action_space = single.action_space
        self.action_space = batch_space(single.action_space, num_envs)
        self._generators = Generators(num_envs, group_size)
        self._has_begun = False
        self._is_over: NDArray[np.bool_] = np.zeros(num_envs, np.bool_)
        self._everyone = np.ones(num_envs, np.bool_)

    def __del__(self) -> None:
        """Nothing: up to 1.2, Gymnasium closes vectors here, those that were refused half made, too."""

    def __reduce__(self) -> NoReturn:
        raise TypeError("a native vector has threads, and cannot be copied or pickled; make another by gym.make_vec")

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The random number generators of the environments."""
        return self._generators.all

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """What the random number generators of the environments began with."""
        return self._generators.seeds

    def _reset(self, seed: int | Sequence[int | None] | None, options: dict[str, Any] | None) -> NDArray[np.bool_]:
        """Begin the episodes that the arguments of `reset` ask for, and say which."""
        mask, seeds = reset_mask_of(options, self.num_envs), seeds_of(seed, self.num_envs)
        if mask is not None and not self._has_begun:
            raise gym.error.ResetNeeded("No episode has begun: call reset() without a reset_mask first")
        chosen = self._everyone if mask is None else mask
        self._generators.begin(seeds, chosen, self._everyone if mask is None else chosen & ~self._is_over)
        self._begin(chosen)
        self._has_begun = True
        return chosen

    @abstractmethod
    def _begin(self, chosen: NDArray[np.bool_]) -> None:
        """Begin episodes in the chosen environments."""

    def _check_has_begun(self) -> None:
        if not self._has_begun:
            raise gym.error.ResetNeeded("No episode has begun: call reset() first")

    def _checked_ends(self) -> NDArray[np.bool_]:
        """The environments whose episode is over, if that is no reason to refuse a step."""
        self._check_has_begun()
        if self.autoreset_mode is not AutoresetMode.NEXT_STEP and np.count_nonzero(self._is_over):
            indices = ", ".join(map(str, np.flatnonzero(self._is_over)))
            raise gym.error.ResetNeeded(
                f'The episodes of environments {indices} are over: call reset(options={{"reset_mask": ...}}) first'
            )
        return self._is_over
