"""Seeds for the parts of a training."""

import hashlib


def derived_seed(*parts: object) -> int:
    """A seed of 31 bits of its own for each seed, round, name, ... of a training.

    Sums would not do: round 1 of seed 0 would draw what round 0 of seed 1 does.

    Args:
        *parts: values whose `repr` tells them apart.
    """
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4], "little") >> 1
