"""The command line: `halidegym`."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Any

import click

from halidegym.evaluation.arguments.options import Failure
from halidegym.evaluation.commands.bench import bench
from halidegym.evaluation.commands.calibrate import calibrate_command
from halidegym.evaluation.commands.collect import collect_command
from halidegym.evaluation.commands.demo import demo
from halidegym.evaluation.commands.distribution import distribution
from halidegym.evaluation.commands.explore import explore
from halidegym.evaluation.commands.judge import judge_command
from halidegym.evaluation.commands.leaderboard import leaderboard_command
from halidegym.evaluation.commands.optima import optima
from halidegym.evaluation.commands.parity import parity
from halidegym.evaluation.commands.play import play
from halidegym.evaluation.commands.playthroughs import playthroughs
from halidegym.evaluation.commands.report import report
from halidegym.evaluation.commands.reproduce import reproduce
from halidegym.evaluation.commands.rollouts import rollouts
from halidegym.evaluation.commands.samples import samples
from halidegym.evaluation.commands.schedule import schedule
from halidegym.evaluation.commands.speed import speed
from halidegym.evaluation.commands.suites import list_pipelines, suites
from halidegym.evaluation.commands.tables import tables
from halidegym.evaluation.commands.time_schedules import time_command
from halidegym.evaluation.commands.timing_check import timing_check_command
from halidegym.evaluation.commands.train import train
from halidegym.evaluation.commands.transform import transform
from halidegym.evaluation.commands.validate import validate_command
from halidegym.native._core import Error

# What to do about errors that name no file, or that are of none.
_REMEDIES = {
    errno.ENOSPC: "Make room, and run the same command again",  # who writes to an open file is not told which
    errno.EDQUOT: "Make room, and run the same command again",
    errno.EFBIG: "Allow larger files, such as by ulimit -f unlimited, and run the same command again",
    errno.ENOENT: "The folder that you are in was removed: change to one that exists",
    errno.EMFILE: "Allow this process more of them, such as by ulimit -n 1024, and run the same command again",
    errno.EAGAIN: "No more processes and threads may be started: end others, or allow more (ulimit -u), and run the same "
    "command again",
}
_ONE_TOO_MANY = (errno.EMFILE, errno.EAGAIN)  # which one it is, is chance


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Our errors, and those of files, as such that click shows in a line each before it exits with status 2."""
    try:
        yield
    except Error as error:
        raise Failure(str(error)) from error
    except OSError as error:
        if error.filename is not None and error.errno not in _ONE_TOO_MANY:
            raise Failure(f"{os.fsdecode(error.filename)}: {error.strerror}") from error
        if error.errno in _REMEDIES:
            raise Failure(f"{error.strerror}. {_REMEDIES[error.errno]}.") from error
        raise
    except RuntimeError as error:
        if str(error) != "can't start new thread":  # for which Python has no type
            raise
        raise Failure(f"{os.strerror(errno.EAGAIN)}. {_REMEDIES[errno.EAGAIN]}.") from error


class _Main(click.Group):
    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _told():  # --help and --version print already
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _told():
            return super().invoke(ctx)


@click.group(
    cls=_Main,
    epilog="Start with `halidegym demo`, or with `halidegym schedule harris --agent beam`.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="halidegym")
def main() -> None:
    """Schedule Halide pipelines by search.

    A Halide pipeline says what to compute, its schedule how: in which loops, tiles, vectors and threads. The commands find
    schedules with a learned cost model, measure them, and compare the search with Halide's own autoscheduler.
    """


for command in (
    schedule,
    play,
    explore,
    list_pipelines,
    suites,
    time_command,
    collect_command,
    samples,
    train,
    timing_check_command,
    calibrate_command,
    judge_command,
    demo,
    bench,
    report,
    validate_command,
    leaderboard_command,
    parity,
    optima,
    distribution,
    reproduce,
    rollouts,
    transform,
    speed,
    playthroughs,
    tables,
):
    main.add_command(command)

if __name__ == "__main__":  # python -m halidegym.evaluation.cli
    main(prog_name="halidegym")
