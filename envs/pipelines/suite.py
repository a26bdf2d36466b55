"""What a suite of pipelines is made of."""

import dataclasses
from collections.abc import Callable

import halide as hl


@dataclasses.dataclass(frozen=True)
class Entry:
    """A registered pipeline.

    Attributes:
        name: what it is called everywhere; it never comes to mean another pipeline.
        build: makes it afresh, unscheduled and with all its estimates, by default at its published size.
        origin: where it comes from, in a few words.
    """

    name: str
    build: Callable[..., hl.Pipeline]
    origin: str


@dataclasses.dataclass(frozen=True)
class Suite:
    """Pipelines to be used together, under a name with a version: a suite that changes gets a new one.

    Attributes:
        name: such as "papers-v1".
        description: in a few words.
        entries: the pipelines, in the order in which tables show them.
    """

    name: str
    description: str
    entries: tuple[Entry, ...]
