"""Our plans of transforms beside FFTW, pocketfft and SciPy, side by side in fresh processes."""

from __future__ import annotations

import dataclasses
import functools
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np
import pyfftw
import scipy.fft

from halidegym.agents.planners.dynamic_programming import DynamicProgramming
from halidegym.envs.processes.isolated import run_anew, run_isolated
from halidegym.envs.timing.machine import measuring
from halidegym.envs.timing.measurements import median_interval
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.plan_task import SpaceName
from halidegym.envs.transform.random_input import transformed_by_numpy
from halidegym.envs.transform.timer import TransformTimer
from halidegym.native._core import TransformSpace, TransformStopwatch, available_lanes

LIBRARIES = ("FFTW", "pocketfft", "scipy.fft")

_SAMPLES = 7  # a turn, of which the least counts
_SAMPLE_S = 1e-3
_SMALLEST_FOR_FFTW = 32  # below, what is taken off for the call weighs more than the transform
_SMALLEST_FOR_SCIPY = 4096  # below, a call takes longer than the transform
_POCKETFFT_ELEMENTS = 4096  # in a call of NumPy's, for the same reason


@dataclasses.dataclass(frozen=True)
class Ratio:
    """How many times faster our plan is than a library: median of the rounds, with an interval of 95 % from six on."""

    median: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class SideBySide:
    """A size of transforms in all libraries.

    Attributes:
        n: the size.
        plan: ours.
        microseconds: per run, least of all rounds, ours first.
        ratios: by library; FFTW from 32 numbers on, SciPy from 4096.
    """

    n: int
    plan: str
    microseconds: dict[str, float]
    ratios: dict[str, Ratio]


def best_plan(n: int, spaces: Sequence[SpaceName]) -> str:
    """The winner of a race between what careful dynamic programming finds in each space, and the model's optimum."""
    reference = TransformSpace(n, lanes=available_lanes()).root().plan
    plans = [reference]
    with TransformTimer(TransformPlan(n, reference)) as timer:
        for name in spaces:
            space = TransformSpace(n, space=name, lanes=available_lanes(), cost=timer.cost)
            plans.append(DynamicProgramming(timer=timer).solve(space).state.text)
        return timer.race(plans)[0].plan


def compare_libraries(n: int, plan: str, rounds: int) -> SideBySide:
    """Have FFTW plan, then time our plan and all libraries in turns, in a process of its own for each round."""
    wisdom = None
    if n >= _SMALLEST_FOR_FFTW:
        with measuring():
            wisdom = run_isolated(_fftw_wisdom, n)
    turns = []
    for _ in range(rounds):
        with measuring():
            turns.append(run_anew(_turn, n, plan, wisdom))
    names = list(turns[0])
    ratios = {}
    for name in names[1:]:
        values = [turn[name] / turn[names[0]] for turn in turns]
        ratios[name] = Ratio(statistics.median(values), *median_interval(values))
    least = {name: min(turn[name] for turn in turns) * 1e6 for name in names}
    return SideBySide(n, plan, least, ratios)


def _fftw(n: int, *flags: str) -> pyfftw.FFTW:
    arrays = [pyfftw.empty_aligned(n, "complex128") for _ in range(2)]
    return pyfftw.FFTW(*arrays, flags=("FFTW_PATIENT", *flags))


def _fftw_wisdom(n: int) -> tuple[bytes, ...]:
    _fftw(n)
    wisdom: tuple[bytes, ...] = pyfftw.export_wisdom()
    return wisdom


def _turn(n: int, plan: str, wisdom: tuple[bytes, ...] | None) -> dict[str, float]:
    """Seconds of the processor per run; FFTW's if there is wisdom. Libraries take turns within the process, too."""
    x, expected = transformed_by_numpy(n, seed=0)
    rows = max(1, _POCKETFFT_ELEMENTS // n)
    many = np.tile(x, (rows, 1))
    out = np.empty_like(many)
    stopwatch = TransformStopwatch(n, plan, x, expected)
    runs: dict[str, Callable[[], object]] = {}
    if wisdom is not None:
        pyfftw.import_wisdom(wisdom)
        transform, trivial = _fftw(n, "FFTW_WISDOM_ONLY"), _fftw(2)
        transform(x)
        runs |= {"FFTW": transform.execute, "call": trivial.execute}
    runs["pocketfft"] = functools.partial(np.fft.fft, many, out=out)
    if n >= _SMALLEST_FOR_SCIPY:
        runs["scipy.fft"] = functools.partial(scipy.fft.fft, x)
    counts = {name: _runs_of(run) for name, run in runs.items()}
    least = dict.fromkeys(["ours", *runs], float("inf"))
    for _ in range(_SAMPLES):
        least["ours"] = min(least["ours"], *stopwatch.take_turns([plan], rounds=1, sample_s=_SAMPLE_S)[0])
        for name, run in runs.items():
            least[name] = min(least[name], _seconds(run, counts[name]))
    least["pocketfft"] /= rows
    if wisdom is not None:
        least["FFTW"] -= least.pop("call")  # of Python, and of a transform of two numbers
    return least


def _runs_of(run: Callable[[], object]) -> int:
    run()
    return max(1, int(_SAMPLE_S / max(_seconds(run, 5), 1e-8)))


def _seconds(run: Callable[[], object], count: int) -> float:
    run()
    begin = time.thread_time()
    for _ in range(count):
        run()
    return (time.thread_time() - begin) / count
