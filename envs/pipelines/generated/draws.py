"""Random draws that are the same in every process and with every version of Python."""

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


class Draws:
    """A stream of random draws, seeded by a text.

    Built on `random.Random.random` alone: of all methods of that class, only this one is documented to give the same
    numbers in later versions of Python.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big"))

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def integer(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def log_integer(self, low: int, high: int) -> int:
        """The same, but each factor of two is as likely as the next."""
        return min(high, int(low * ((high + 1) / low) ** self._random.random()))

    def choice(self, options: Sequence[T]) -> T:
        """One of the options, all equally likely."""
        return options[self.integer(0, len(options) - 1)]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of the keys, with a probability in proportion to its weight."""
        options = list(weights)
        left = self._random.random() * math.fsum(weights.values())
        for option in options:
            left -= weights[option]
            if left < 0:
                return option
        return options[-1]

    def subset(self, options: Sequence[T], size: int) -> list[T]:
        """So many different options, in the order in which they are given."""
        chosen = set[int]()
        while len(chosen) < size:
            chosen.add(self.integer(0, len(options) - 1))
        return [options[i] for i in sorted(chosen)]
