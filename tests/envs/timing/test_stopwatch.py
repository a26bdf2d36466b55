"""Stopwatches that others close, and those that are used for days."""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipelines_for_tests
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing import stopwatch as stopwatch_module
from halidegym.envs.timing.kernel import RunningKernel
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.native._core import Error, InvalidParameter


@pytest.mark.parametrize("verify", [True, False])
def test_one_that_another_thread_closes_blames_no_schedule(monkeypatch: pytest.MonkeyPatch, verify: bool) -> None:
    class Closed(RunningKernel):
        def __init__(self, *arguments: Any) -> None:
            with ThreadPoolExecutor() as others:
                others.submit(stopwatch.close).result()
            super().__init__(*arguments)

    monkeypatch.setattr(stopwatch_module, "RunningKernel", Closed)
    stopwatch = Stopwatch(TimingSettings(verify=verify))
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur)
    with pytest.raises(InvalidParameter, match=r"stopwatch was closed.*make another"):
        stopwatch.time(problem, None)


def test_what_has_run_leaves_no_files_before_the_stopwatch_is_closed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur)
    with Stopwatch() as stopwatch:
        (first,), (again,) = (stopwatch.run(problem, None) for _ in range(2))
        (scratch,) = tmp_path.iterdir()
        assert list(scratch.iterdir()) == []
    np.testing.assert_array_equal(first, again)


def test_what_fails_leaves_no_files_either(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur)
    with Stopwatch() as stopwatch:
        stopwatch.compile(problem, [])  # the runtime, which no other test may have had built
        monkeypatch.setattr(shutil, "which", lambda _: None)
        with pytest.raises(Error, match="no linker found"):
            stopwatch.time(problem, None)
        (scratch,) = tmp_path.iterdir()
        assert list(scratch.iterdir()) == []
