"""What tests run in other processes, which must be able to import it."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import halide as hl
import numpy as np
import numpy.typing as npt

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.isolated import run_anew, run_isolated
from halidegym.envs.processes.resources import Resources, measure
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.native._core import InvalidParameter


def add(a: int, *, b: int) -> int:
    return a + b


def name_of_a_func() -> str:
    return hl.Func("isolated").name()


def refuse() -> None:
    print("words that are not the last")
    raise InvalidParameter("refused there")


def crash(words: str) -> None:
    print(words, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def die(*_: object) -> None:
    """As if the system had ended the process."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_the_first_time(mark: Path) -> str:
    if not mark.exists():
        mark.touch()
        die()
    return "survived"


def wait_after_a_sign(sign: Path) -> None:
    sign.touch()
    time.sleep(1000)


def work() -> tuple[int, Resources]:
    return measure(lambda: len(bytearray(64 * 2**20)) + sum(range(3_000_000)))


def input_is_empty() -> bool:
    return sys.stdin.read() == ""


def take(size: int) -> int:
    return len(bytearray(size))


def wait_in_another_process(forked: bool) -> None:
    (run_isolated if forked else run_anew)(time.sleep, 1000)


@dataclass(frozen=True)
class Surroundings:
    """What a process finds: folder, variables, cores, and whether Ctrl-C in a terminal passes it by."""

    folder: Path
    variables: tuple[str | None, ...]
    cpus: set[int]
    leads_a_session: bool


def surroundings(variables: tuple[str, ...]) -> Surroundings:
    found = tuple(map(os.environ.get, variables))
    return Surroundings(Path.cwd(), found, os.sched_getaffinity(0), os.getsid(0) == os.getpid())


def drawn_numbers() -> tuple[float, float]:
    return random.random(), float(np.random.random())  # noqa: NPY002 - the generator that is everybody's


def schedule_trusted(problem: SchedulingProblem) -> None:
    TrustedSchedule(problem).pipeline()


def square(number: int) -> int:
    """Of most numbers; some kill their process, as libHalide does when it aborts, or raise."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGABRT)
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number * number


def multiply(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return matrix @ matrix


def threads_of_a_parallel_loop() -> int:
    """How many threads there are after a loop that may use all cores."""
    f, x, y = hl.Func("f"), hl.Var("x"), hl.Var("y")
    f[x, y] = x + y
    f.parallel(y)
    f.realize([1000, 1000])
    return len(os.listdir("/proc/self/task"))
