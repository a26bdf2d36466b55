"""Options of commands that show a schedule beside others."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from halidegym.agents.tuner.racing import SETTINGS
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.evaluation.arguments.options import Integer
from halidegym.evaluation.arguments.timing import return_memory_option

REFERENCES = ("adams2019", "mullapudi2016")
"""What Halide's own autoschedulers find."""


@dataclass(frozen=True)
class Beside:
    """What to show a schedule beside.

    Attributes:
        schedules: as `find_schedule` takes them; none, if nothing was asked for.
        threads: to measure on; None for as many as the pipeline is scheduled for, at most the usable cores.
        keep_memory: see `TimingSettings`.
    """

    schedules: tuple[str, ...] = ()
    threads: int | None = None
    keep_memory: bool = True

    @property
    def settings(self) -> TimingSettings:
        """How to time."""
        return replace(SETTINGS, threads=self.threads, keep_memory=self.keep_memory)


_OPTIONS: Sequence[Callable[[Callable[..., Any]], Callable[..., Any]]] = (
    click.option(
        "--measure",
        is_flag=True,
        help="Time the best schedule beside those of Halide's Adams2019 and Mullapudi2016 autoschedulers.",
    ),
    click.option(
        "--manual",
        metavar="FILE.py:FUNCTION",
        multiple=True,
        help="Time it beside this schedule of your own, too: a function whose parameters are named as Funcs; repeatable.",
    ),
    click.option(
        "--threads",
        type=Integer(1),
        help="Threads to measure on.  [default: the parallelism, at most the usable cores]",
    ),
    return_memory_option,
)


def beside_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --measure, --manual, --threads and --return-memory, and hand them over as one, `beside`."""

    @functools.wraps(command)
    def with_beside(
        *args: Any, measure: bool, manual: tuple[str, ...], threads: int | None, return_memory: bool, **kwargs: Any
    ) -> Any:
        schedules = (*REFERENCES, *manual) if measure or manual else ()
        return command(*args, beside=Beside(schedules, threads, not return_memory), **kwargs)

    for option in reversed(_OPTIONS):
        with_beside = option(with_beside)
    return with_beside
