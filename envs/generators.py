"""The random number generators of a vector of environments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray


class Generators:
    """A generator for each environment, as each would have alone, but that the members of a group have the same seed.

    So they draw the same numbers, each in its own time, until they are begun anew together.

    Args:
        count: number of environments.
        group_size: neighbours that form a group; 1 for none.
    """

    def __init__(self, count: int, group_size: int) -> None:
        self._generators: list[np.random.Generator | None] = [None] * count
        self._seeds = [-1] * count
        self._group_size = group_size

    def begin(self, seeds: Sequence[int | None], chosen: NDArray[np.bool_], anew: NDArray[np.bool_]) -> None:
        """Give the chosen environments new generators where there is a seed: that of the first of its group.

        Without a seed, a group of which all are chosen goes on where its first member is, if one of them begins anew:
        members whose episodes only happen to end together may have had different numbers of them.

        Args:
            seeds: of all environments.
            chosen: those that begin an episode.
            anew: those of them that do so though the last one may not be over.

        Raises:
            Error: Gymnasium's, for what is no seed.
        """
        for index in np.flatnonzero(chosen).tolist():
            first = self._first(index)
            if seeds[first] is not None:
                self._generators[index], self._seeds[index] = seeding.np_random(seeds[first])
            elif first != index and chosen[group := self._group(first)].all() and anew[group].any():
                self[index].bit_generator.state = self[first].bit_generator.state

    def __getitem__(self, index: int) -> np.random.Generator:
        generator = self._generators[index]
        if generator is None:
            first = self._first(index)
            _, seed = seeding.np_random()
            for member in range(first, first + self._group_size):
                if self._generators[member] is None:
                    self._generators[member], self._seeds[member] = seeding.np_random(seed)
            return self[index]
        return generator

    @property
    def all(self) -> tuple[np.random.Generator, ...]:
        """The generators of all environments."""
        return tuple(self[index] for index in range(len(self._generators)))

    @property
    def seeds(self) -> tuple[int, ...]:
        """What they began with."""
        return tuple(self._seeds[index] for index, _ in enumerate(self.all))

    def _group(self, first: int) -> slice:
        return slice(first, first + self._group_size)

    def _first(self, index: int) -> int:
        return index - index % self._group_size
