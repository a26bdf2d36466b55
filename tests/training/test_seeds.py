"""Seeds for the parts of a training."""

from __future__ import annotations

from halidegym.training.seeds import derived_seed


def test_seeds_of_parts_are_their_own() -> None:
    seeds = {derived_seed(seed, number) for seed in range(30) for number in range(30)}
    assert len(seeds) == 900 and all(0 <= seed < 1 << 31 for seed in seeds)
    assert derived_seed(0, 1, "a") != derived_seed(0, 1, "b")


def test_seeds_stay_the_same() -> None:
    """From process to process: a training that was killed goes on with them."""
    assert derived_seed(0, 1, "random-train-v1/17") == 758494552
