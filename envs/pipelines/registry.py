"""Registered pipelines: the suites, and what a name stands for."""

import functools
from typing import Any

import halide as hl

from halidegym.envs.pipelines import generated, toys
from halidegym.envs.pipelines.papers import PAPERS
from halidegym.envs.pipelines.suite import Entry, Suite

_GENERATED_PER_SUITE = 100


def _generated(name: str) -> Entry:
    return Entry(name, functools.partial(generated.build, name), "generated")


def _generated_suite(name: str, split: str) -> Suite:
    members = (f"{name}/{number}" for number in range(_GENERATED_PER_SUITE))
    description = f"{_GENERATED[generated.version_of(name)]} to {_PURPOSES[split]}; any number is a name"
    return Suite(name, description, tuple(map(_generated, members)))


_GENERATED = {1: "generated pipelines", 2: "larger and more varied generated pipelines"}
_PURPOSES = {"train": "train on", "validation": "choose models by", "test": "report results on"}
_TOYS = Suite(
    "toy-v1",
    "so small that their optimal schedules are known",
    tuple(Entry(name, build, "halidegym") for name, build in toys.BUILDERS.items()),
)
_SUITES = {
    suite.name: suite
    for suite in (PAPERS, _TOYS, *(_generated_suite(name, split) for name, split in generated.SUITES.items()))
}
_ENTRIES = {entry.name: entry for suite in _SUITES.values() for entry in suite.entries}


def suites() -> list[Suite]:
    """All suites."""
    return list(_SUITES.values())


def names(suite: str | None = None) -> list[str]:
    """Names that `build` knows, of one suite, or of all those that are not generated.

    The names of generated pipelines go on without an end: `random-train-v1/12345` is one, too. A suite of them lists
    its first hundred.

    Raises:
        ValueError: there is no such suite.
    """
    if suite is None:
        return [name for name in _ENTRIES if not generated.is_name(name)]
    if suite not in _SUITES:
        raise ValueError(f"There is no suite {suite!r}: use one of {', '.join(_SUITES)}, or None for all")
    return [entry.name for entry in _SUITES[suite].entries]


def members(name: str) -> list[str]:
    """The names of a suite, as `names` lists them; a name that is none of a suite stands for itself."""
    return names(name) if name in _SUITES else [name]


def is_name(text: str) -> bool:
    """Whether `build` knows the name."""
    return text in _ENTRIES or generated.is_name(text)


def entry(name: str) -> Entry:
    """The registered pipeline of this name.

    Raises:
        ValueError: there is none.
    """
    if name in _ENTRIES:
        return _ENTRIES[name]
    if generated.is_name(name):
        return _generated(name)
    raise ValueError(
        f"There is no pipeline {name!r}: use one of {', '.join(names())}, or a generated one such as "
        f"{generated.name_of('train', 17)}"
    )


def build(name: str, **options: Any) -> hl.Pipeline:
    """Build a registered pipeline afresh, unscheduled and with all its estimates.

    Args:
        name: one of `names()`, or of a generated pipeline.
        **options: passed on to the pipeline's own `build`. Those of the papers take `size`, by default the published one:
            (width, height), or one number where all sides are equal (`mat_mul`, `resnet_50`).

    Raises:
        ValueError: there is no pipeline of this name, or the option has a value that the pipeline cannot have.
        TypeError: the pipeline has no such option.
    """
    return entry(name).build(**options)
