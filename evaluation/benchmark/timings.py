"""Run times of the schedules that a run found: those of a pipeline in turns, relative to the baseline's, a file each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from halidegym.envs.timing.measurements import Comparison, TimingSettings
from halidegym.evaluation.benchmark.cells import CellResult, readable_file_name
from halidegym.evaluation.benchmark.problems import kind_of
from halidegym.evaluation.benchmark.run import TIMINGS, Run
from halidegym.evaluation.benchmark.suite import Suite
from halidegym.native._core import Error, FormatError
from halidegym.native.checks import shown
from halidegym.native.files import write_atomically


@dataclass(frozen=True)
class PipelineTimings:
    """What was measured on a pipeline.

    Attributes:
        comparisons: by the key of the schedule, with the baseline's.
        failure: why nothing could be; empty if it could.
    """

    comparisons: Mapping[str, Comparison]
    failure: str = ""

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> PipelineTimings:
        """Read what was written.

        Raises:
            FormatError: it is something else.
        """
        try:
            comparisons = {key: Comparison.from_dict(fields) for key, fields in document["comparisons"].items()}
            if not isinstance(document["failure"], str):
                raise TypeError(f"failure={shown(document['failure'])}")
            return cls(comparisons, document["failure"])
        except (KeyError, TypeError, AttributeError) as error:
            raise FormatError(f"there are no timings in it ({error!r})") from error


def read_timings(run: Run) -> dict[str, PipelineTimings]:
    """What was measured, by pipeline.

    Raises:
        FormatError: a file is damaged.
    """
    found = {}
    for pipeline, document in run.timings().items():
        try:
            found[pipeline] = PipelineTimings.from_dict(document)
        except FormatError as error:
            raise FormatError(
                f"The run times of {pipeline} in {run.path}/{TIMINGS} are damaged: {error}. Remove their file, and run again"
            ) from error
    return found


def time_missing(run: Run, on_pipeline: Callable[[str], None] = lambda _: None) -> None:
    """Time the schedules of each pipeline whose run times are not those of its schedules, if the suite measures.

    Args:
        run: of a folder, whose cells are done.
        on_pipeline: called with the name of each pipeline that is begun.

    Raises:
        OSError: a file cannot be written.
    """
    settings = run.suite.measurement
    if settings is None:
        return
    known, results = read_timings(run), run.results()
    timing = TimingSettings(threads=settings.threads, time_limit_s=settings.sample_seconds)
    for pipeline in run.suite.pipelines:
        of_pipeline = {name: result for name, result in results.items() if result.cell["pipeline"] == pipeline}
        chosen = to_time(run, of_pipeline)
        # Schedules that no cell has any more, because its agent was edited, go, too: they are no results of the run.
        if set(chosen) == set(known[pipeline].comparisons if pipeline in known else ()):
            continue
        on_pipeline(pipeline)
        document: dict[str, Any] = {"pipeline": pipeline, "comparisons": {}, "failure": ""}
        try:
            first = next(iter(chosen.values()), None)
            if first is None or first.cell["agent"] != run.suite.baseline:
                raise Error("the baseline found no schedule to compare with")
            found = {key: result.solution for key, result in chosen.items() if result.solution is not None}
            compared = kind_of(pipeline).compare(
                pipeline, run.suite.target, run.header.parallelism, found, timing, settings.rounds
            )
            document["comparisons"] = {key: comparison.to_dict() for key, comparison in compared.items()}
        except Error as error:
            document["failure"] = str(error)
        path = run.path / TIMINGS / timings_file(pipeline)
        write_atomically(path, (json.dumps(document, indent=1) + "\n").encode())


def to_time(run: Run, results: Mapping[str, CellResult]) -> dict[str, CellResult]:
    """By the key of the schedule, the cells of a pipeline whose schedules are timed, the baseline's first."""
    seeds = timed_seeds(run.suite)
    chosen: dict[str, CellResult] = {}
    for result in results.values():
        if result.plan is not None and result.cell["seed"] in seeds:
            chosen.setdefault(result.schedule_key, result)
    return chosen


def timed_seeds(suite: Suite) -> list[int]:
    """The seeds whose schedules are timed."""
    return suite.seeds[: None if suite.measurement is None else suite.measurement.seeds]


def timings_file(pipeline: str) -> str:
    """Name of the file of a pipeline's timings: for people to read, and another one for each."""
    digest = hashlib.sha256(pipeline.encode()).hexdigest()[:8]
    return readable_file_name(pipeline, digest)
