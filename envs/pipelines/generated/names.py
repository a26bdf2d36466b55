"""Names of generated pipelines: `random-train-v1/17` is number 17 of the train split, of version 1 of the distribution.

A name stands for the same pipeline in every process. The splits never overlap: a number's blueprint is drawn again until
its digest falls into the share of its split. So whatever two splits draw, it is different, and not only likely so.
"""

import functools
import re
from collections.abc import Sequence

from halidegym.envs.pipelines.generated.blueprint import Blueprint
from halidegym.envs.pipelines.generated.draws import Draws
from halidegym.envs.pipelines.generated.sample import Distribution, sample

# Any change that gives a name another pipeline needs a new version.
_DISTRIBUTIONS = {
    1: Distribution(
        kind_factors=(1.0,),
        unread=(6.0,),
        most_input_points=1 << 21,
        most_signal_points=1 << 22,
        most_points=1 << 22,
        most_work=1 << 27,
    ),
    2: Distribution(
        kind_factors=(0.1, 0.3, 1.0, 3.0, 10.0),
        unread=(2.0, 6.0, 100.0),
        most_input_points=1 << 24,
        most_signal_points=1 << 20,
        most_points=1 << 25,
        most_work=1 << 31,
    ),
}

COUNT = 10**18
"""Numbers of a split go from 0 to this, exclusively."""

# Of all blueprints, by their digest modulo ten.
_SHARES = {"train": range(8), "validation": range(8, 9), "test": range(9, 10)}
_NAME = re.compile(rf"random-({'|'.join(_SHARES)})-v({'|'.join(map(str, _DISTRIBUTIONS))})/(0|[1-9][0-9]{{0,17}})")


def suite_of(split: str, *, version: int = 1) -> str:
    """The name of the suite that is a split of this version, "train", "validation" or "test"."""
    return f"random-{split}-v{version}"


_SUITES = {suite_of(split, version=version): (split, version) for version in _DISTRIBUTIONS for split in _SHARES}

SUITES = {suite: split for suite, (split, _) in _SUITES.items()}
"""Names of the suites, and which split each of them is."""


def version_of(suite: str) -> int:
    """The version of the distribution that the suite of this name is drawn from."""
    _, version = _SUITES[suite]
    return version


def split_of(name: str) -> str:
    """The split of the generated pipeline of this name; empty if there is none."""
    match = _NAME.fullmatch(name)
    return match[1] if match else ""


def suite_and_number(name: str) -> tuple[str, int]:
    """What the name of a generated pipeline is made of."""
    suite, _, number = name.partition("/")
    return suite, int(number)


def is_name(text: object) -> bool:
    """Whether it is a text that names a generated pipeline."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def name_of(split: str, number: int, *, version: int = 1) -> str:
    """The name of a pipeline of a split, "train", "validation" or "test"; numbers go from 0 to `COUNT` - 1."""
    return f"{suite_of(split, version=version)}/{number}"


def name_in_turn(suites: Sequence[str], number: int) -> str:
    """The name of one of the pipelines of these suites, which take turns: the first of each, the second of each, ..."""
    number, turn = divmod(number, len(suites))
    return f"{suites[turn]}/{number}"


@functools.lru_cache(maxsize=64)
def blueprint(name: str) -> Blueprint:
    """What the pipeline of this name computes.

    Raises:
        ValueError: the text is no such name.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"There is no generated pipeline {name!r}: use a name such as {name_of('train', 17)!r}")
    draws = Draws(name)
    while True:
        candidate = sample(draws, _DISTRIBUTIONS[int(match[2])])
        if candidate.digest() % 10 in _SHARES[match[1]]:
            return candidate
