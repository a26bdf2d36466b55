"""A compiled schedule in a process of its own that runs it, checks its output and takes samples when told to."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from halidegym.envs.processes.confined import RUNNER, ConfinedProcess, Finished, ProcessEnded
from halidegym.envs.timing.measurements import Outcome, TimingSettings

T = TypeVar("T")

Regions: TypeAlias = Mapping[str, tuple[tuple[int, int], ...]]
"""By the name of an input, the minimum and the extent of each dimension."""

_MIN_SAMPLES = 5
_LONGEST_PAUSE_S = 0.05
_STANDSTILL_S = 0.1


class KernelFailed(Exception):  # noqa: N818 - says what happened
    """A kernel did not run to its end, or its output is wrong.

    Attributes:
        outcome: what of it.
        error: its last words.
        larger_inputs: see `Timing`.
        was_killed: whether somebody else ended it, which says nothing of it unless it happens again.
    """

    def __init__(self, outcome: Outcome, error: str, larger_inputs: str = "", *, was_killed: bool = False) -> None:
        super().__init__(error)
        self.outcome: Outcome = outcome
        self.error = error
        self.larger_inputs = larger_inputs
        self.was_killed = was_killed

    @classmethod
    def of(cls, finished: Finished) -> KernelFailed:
        """The failure of a kernel's process that ended in this way."""
        outcomes: dict[str, Outcome] = {
            "crash": "crash",
            "timeout": "timeout",
            "out_of_memory": "out_of_memory",
            "error": "run_error",
        }
        return cls(outcomes[finished.outcome], finished.error, was_killed=finished.was_killed)


def once_more_if_killed(run: Callable[[], T]) -> T:
    """Call a function that runs a kernel; once more, if somebody else ends the kernel's process.

    Raises:
        KernelFailed: it did so by itself, or was ended twice.
    """
    try:
        return run()
    except KernelFailed as failed:
        if not failed.was_killed:
            raise
    return run()


@dataclasses.dataclass(frozen=True)
class Sample:
    """One sample.

    Attributes:
        run_s: seconds per run.
        disturbed: whether its threads waited for a core for more than the fraction that the settings allow, or the machine
            stood still.
        work_s: seconds per run in which cores worked for it, all threads together; waiting for a core is left out.
    """

    run_s: float
    disturbed: bool
    work_s: float


class RunningKernel:
    """A kernel that has run once, and waits for what to do next. Use as a context.

    Args:
        runtime: Halide's runtime as a shared library.
        library: the kernel.
        threads: to run on.
        settings: how to measure.
        inputs: input name to the raw file of its data.

    Attributes:
        shortest_s: seconds of the shortest run so far; of the first run, before there are samples.

    Raises:
        KernelFailed: it did not run to its end.
    """

    def __init__(
        self, runtime: Path, library: Path, threads: int, settings: TimingSettings, inputs: Sequence[str] = ()
    ) -> None:
        self._settings = settings
        memory = "keep" if settings.keep_memory else "return"
        self._process = ConfinedProcess(
            [RUNNER, "kernel", runtime, library, str(settings.seed), memory, *inputs],
            memory_bytes=settings.memory_bytes,
            cpus=settings.cpus,
            environment={"HL_NUM_THREADS": str(threads)},
        )
        try:
            self.shortest_s = float(self._answer("ready"))
            self._runs_per_sample = self._runs_for(self.shortest_s)
        except BaseException:
            self._process.close()
            raise

    def __enter__(self) -> RunningKernel:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.close()

    def outputs(self, directory: Path) -> list[NDArray[np.generic]]:
        """The outputs of the last run, tuple elements apart, with the axes of NumPy: the innermost dimension last.

        They are left in the directory, for `check`.
        """
        description = self._ask(f"write {_quoted(directory)}", "outputs")
        return [_read_output(directory, output) for output in description.split(";")]

    def inputs(self) -> Regions:
        """The inputs as they are: of the estimated sizes, and larger where the schedule asks for more."""
        return {
            name: tuple((least, extent) for least, extent in region)
            for name, *region in json.loads(self._ask("inputs", "inputs"))
        }

    def check(self, directory: Path, *, is_exact: bool = False) -> None:
        """Compare the outputs of the last run with those that `outputs` left in a directory.

        Args:
            directory: where they are.
            is_exact: whether the pipeline computes with integers alone, whose results are the same in every order.

        Raises:
            KernelFailed: they are not the same.
        """
        tolerance = self._settings.tolerance
        answer = self._ask(f"check {_quoted(directory)} {tolerance!r} {tolerance!r} {int(not is_exact)}", "points")
        counts, _, example = answer.partition(": ")
        fraction = 0.0 if is_exact else self._settings.differing_fraction
        differing, totals = (list(map(int, counts.split()[first::3])) for first in (0, 2))
        if any(points > fraction * total for points, total in zip(differing, totals, strict=True)):
            raise KernelFailed(
                "wrong_output",
                f"{sum(differing)} of {sum(totals)} points differ from the trusted schedule: {example}",
            )

    def sample(self) -> Sample:
        """Run for one sample.

        Raises:
            KernelFailed: it did not get to the end.
        """
        runs = self._runs_per_sample
        seconds, worked, waited = map(float, self._ask(f"sample {runs} {self._settings.flush_bytes}", "sample").split())
        if seconds < self._settings.shortest_sample_s:  # the first run, with cold caches, was slower
            self._runs_per_sample = max(runs, self._runs_for(seconds / runs))
        # A machine that stands still, such as a paused guest, does not tell: no thread of it waits for a core.
        stood_still = seconds > 3 * runs * self.shortest_s + _STANDSTILL_S
        self.shortest_s = min(self.shortest_s, seconds / runs)
        disturbed = stood_still or waited > self._settings.disturbance * seconds
        return Sample(seconds / runs, disturbed, worked / runs)

    def samples(self) -> list[Sample]:
        """Samples until the best undisturbed ones agree, or the time is over.

        A disturbed sample is followed by a pause, longer each time, to wait until the machine is quiet again.

        Raises:
            KernelFailed: it did not get to the end.
        """
        taken: list[Sample] = [self.sample()]
        begin, pause_s = time.monotonic(), 1e-3
        while not (len(taken) >= _MIN_SAMPLES and self._agree(taken)):
            enough_quiet = sum(not sample.disturbed for sample in taken) >= self._settings.samples_to_agree
            limit_s = self._settings.time_limit_s + (0 if enough_quiet else self._settings.patience_s)
            # Time in which the machine stood still is no reason to end with less than there is time for.
            enough = len(taken) >= _MIN_SAMPLES or len(taken) * self._runs_per_sample * self.shortest_s > limit_s
            if enough and time.monotonic() - begin > limit_s:
                break
            if taken[-1].disturbed:
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            taken.append(self.sample())
        return taken

    def _agree(self, taken: Sequence[Sample]) -> bool:
        quiet = sorted(sample.run_s for sample in taken if not sample.disturbed)[: self._settings.samples_to_agree]
        return len(quiet) == self._settings.samples_to_agree and quiet[-1] <= quiet[0] * (1 + self._settings.agreement)

    def _runs_for(self, run_s: float) -> int:
        if self._settings.flush_bytes > 0:
            return 1
        return math.ceil(self._settings.shortest_sample_s / max(run_s, 1e-9))

    def _ask(self, command: str, answer: str) -> str:
        self._process.send(f"{command}\n".encode(), self._settings.timeout_s)
        return self._answer(answer)

    def _answer(self, label: str) -> str:
        try:
            line = self._process.receive_line(self._settings.timeout_s)
        except ProcessEnded as ended:
            raise KernelFailed.of(ended.finished) from None
        found, _, rest = line.partition(" ")
        if found != label:
            raise KernelFailed("run_error", f"the runner answered {line!r} where {label!r} was expected")
        return rest


def _quoted(path: Path) -> str:
    """As C++'s `std::quoted` reads it."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _read_output(directory: Path, description: str) -> NDArray[np.generic]:
    index, dtype, *extents = description.split()
    shape = tuple(int(extent) for extent in reversed(extents))
    return np.fromfile(directory / f"{index}.bin", dtype=dtype).reshape(shape)
