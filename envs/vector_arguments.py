"""Arguments of vectors of environments, checked."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsIndex

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from halidegym.envs.arguments import action_index
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import INT32_MAX, check_at_least, check_kind, check_present, shown


def check_no_wrappers(arguments: Mapping[str, Any]) -> None:
    """Refuse what `gym.make` takes for its own wrappers around a single environment: none are in a native vector.

    Raises:
        InvalidParameter: it is among the arguments.
    """
    for name in ("max_episode_steps", "disable_env_checker"):
        if name in arguments:
            raise InvalidParameter(
                f"{name}={shown(arguments[name])} is about wrappers of single environments, and a native vector has none: "
                'leave it out, or use gym.make_vec(..., vectorization_mode="sync")'
            )


def check_sizes(num_envs: int, threads: int, group_size: int) -> None:
    """Check how many environments there are, how many threads step them, and how many share a pipeline.

    Raises:
        InvalidParameter: they are no positive numbers, or do not fit each other.
    """
    check_at_least(1, INT32_MAX, **check_present(num_envs=num_envs, threads=threads, group_size=group_size))
    if threads > num_envs:
        raise InvalidParameter(
            f"threads={threads} is more than num_envs={num_envs}: an environment is stepped by one thread at a time; give "
            f"{num_envs} or fewer"
        )
    if num_envs % group_size:
        raise InvalidParameter(
            f"group_size={group_size} does not divide num_envs={num_envs}: all groups are of the same size; change one of "
            "the two"
        )


def autoreset_mode_of(mode: str | AutoresetMode) -> AutoresetMode:
    """The mode that is meant.

    Raises:
        InvalidParameter: there is no such mode.
    """
    try:
        return AutoresetMode(mode)
    except ValueError as error:
        known = ", ".join(repr(mode.value) for mode in AutoresetMode)
        raise InvalidParameter(f"autoreset_mode={shown(mode)} is unknown: use one of {known}") from error


def action_indices(actions: ArrayLike, num_envs: int) -> NDArray[np.int64]:
    """The actions of a vector as integers, one for each environment.

    Raises:
        InvalidParameter: there are more or fewer, or one is no integer that fits 64 bits.
    """
    try:
        array = np.asarray(actions)
    except ValueError as error:
        raise InvalidParameter(
            f"actions={shown(actions)} are of different lengths: give one for each of {num_envs} environments"
        ) from error
    if array.shape != (num_envs,):
        raise InvalidParameter(
            f"actions={shown(actions)} has the shape {array.shape}: give one for each of {num_envs} environments"
        )
    if array.dtype == np.int64:
        return array
    # As they were given: NumPy makes texts of all if one is a text.
    given: Iterable[Any] = actions if isinstance(actions, Sequence) else array
    return np.array([action_index(action) for action in given], np.int64)


def seeds_of(seed: int | Sequence[int | None] | NDArray[np.integer] | None, num_envs: int) -> list[int | None]:
    """A seed for each environment of a vector: none, `seed` + i, or those of the list, as in Gymnasium's own vectors.

    Raises:
        InvalidParameter: it is no number, and no list of this length.
    """
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, np.ndarray):
        seed = seed.tolist()
    if isinstance(seed, SupportsIndex):
        return [operator.index(seed) + i for i in range(num_envs)]
    check_kind(Sequence, seed=seed)
    if len(seed) != num_envs:
        raise InvalidParameter(
            f"seed={shown(seed)} has {len(seed)} elements: give a number, or one for each of {num_envs} environments"
        )
    return list(seed)


def reset_mask_of(options: Mapping[str, Any] | None, num_envs: int) -> NDArray[np.bool_] | None:
    """The environments of a vector that a `reset` is about; None for all.

    Raises:
        InvalidParameter: `reset_mask` is no array of bool, one for each, or chooses none; or there are other options.
    """
    check_kind(Mapping, options=options)
    others = dict(options or {})
    mask = others.pop("reset_mask", None)
    if others:
        raise InvalidParameter(f"options={shown(others)}: reset has no option but reset_mask here; leave them out")
    if mask is None:
        return None
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (num_envs,) or not mask.any():
        raise InvalidParameter(
            f"reset_mask={shown(mask)}: give a NumPy array of bool with {num_envs} elements, of which at least one is True"
        )
    return mask
