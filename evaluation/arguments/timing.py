"""Options of the commands that measure run times."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.timers import RecordingTimer
from halidegym.evaluation.arguments.options import SECONDS, Failure, Integer, Number, integers_of
from halidegym.evaluation.arguments.paths import OutputFile, OutputFolder
from halidegym.native.checks import INT64_MAX

return_memory_option = click.option(
    "--return-memory",
    is_flag=True,
    help="Give memory that a run frees back to the system, so that the next one fetches its pages anew.",
)

_OPTIONS: Sequence[Callable[[Callable[..., Any]], Callable[..., Any]]] = (
    click.option(
        "--threads",
        type=Integer(1),
        help="Threads to run on.  [default: the parallelism, at most the usable cores]",
    ),
    click.option(
        "--cpus",
        type=integers_of(Integer(0)),
        default=(),
        help="Cores to run on, such as 0,1.  [default: the usable ones]",
    ),
    click.option(
        "--sample-seconds",
        type=SECONDS,
        default=2.0,
        show_default=True,
        help="Time to spend on samples of a schedule.",
    ),
    click.option(
        "--patience",
        type=Number(min=0),
        default=2.0,
        show_default=True,
        help="More of it, while other processes disturb.",
    ),
    click.option("--timeout", type=SECONDS, default=60.0, show_default=True, help="Seconds after which a run is hung."),
    click.option(
        "--compile-timeout", type=SECONDS, default=300.0, show_default=True, help="The same for the compilation."
    ),
    click.option(
        "--memory",
        type=Integer(1, INT64_MAX >> 30),
        default=8,
        show_default=True,
        help="GiB of memory that a run may have.",
    ),
    click.option(
        "--flush",
        type=Integer(0, INT64_MAX >> 20),
        default=0,
        show_default=True,
        help="MiB of other memory to touch before a sample.",
    ),
    return_memory_option,
    click.option(
        "--inputs-seed", type=Integer(0, INT64_MAX), default=0, show_default=True, help="Of the random inputs."
    ),
    click.option("--no-verify", is_flag=True, help="Do not compare outputs with those of the trusted schedule."),
)
_RECORD_OPTIONS: Sequence[Callable[[Callable[..., Any]], Callable[..., Any]]] = (
    click.option(
        "--database",
        type=OutputFile(),
        help="Record measurements in this file, and answer from it what is on record.",
    ),
    click.option("--again", is_flag=True, help="Measure even what is on record."),
)

cache_option = click.option(
    "--cache",
    type=OutputFolder(),
    help="Keep what was searched or compiled in this folder, and look there first.",
)
_prepare_option = click.option("--prepare", is_flag=True, help="Search and compile into the --cache, and time nothing.")


def timing_settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `TimingSettings`, and hand them over as one, `settings`."""

    @functools.wraps(command)
    def with_settings(
        *args: Any,
        threads: int | None,
        cpus: tuple[int, ...],
        sample_seconds: float,
        patience: float,
        timeout: float,
        compile_timeout: float,
        memory: int,
        flush: int,
        return_memory: bool,
        inputs_seed: int,
        no_verify: bool,
        **kwargs: Any,
    ) -> Any:
        settings = TimingSettings(
            threads=threads,
            cpus=cpus,
            seed=inputs_seed,
            time_limit_s=sample_seconds,
            patience_s=patience,
            timeout_s=timeout,
            compile_timeout_s=compile_timeout,
            memory_bytes=memory << 30,
            flush_bytes=flush << 20,
            keep_memory=not return_memory,
            verify=not no_verify,
        )
        return command(*args, settings=settings, **kwargs)

    for option in reversed(_OPTIONS):
        with_settings = option(with_settings)
    return with_settings


def timing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `timing_settings_options`, and of a record: `database` and `again`."""
    for option in reversed(_RECORD_OPTIONS):
        command = option(command)
    return timing_settings_options(command)


def cache_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options to search and compile first, and time later: `cache` and `prepare`."""

    @functools.wraps(command)
    def with_cache(*args: Any, cache: Path | None, prepare: bool, **kwargs: Any) -> Any:
        if prepare and cache is None:
            raise Failure("--prepare needs a --cache to prepare")
        return command(*args, cache=cache, prepare=prepare, **kwargs)

    return cache_option(_prepare_option(with_cache))


def caching_timer(settings: TimingSettings, database: Path | None, again: bool, cache: Path | None) -> RecordingTimer:
    """The timer that these options ask for; to be closed."""
    stopwatch = Stopwatch(settings, kernels=None if cache is None else cache / "kernels")
    return RecordingTimer(database, remeasure=again, stopwatch=stopwatch)
