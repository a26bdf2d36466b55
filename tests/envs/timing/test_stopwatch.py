"""Stopwatches that others close."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import pipelines_for_tests
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing import stopwatch as stopwatch_module
from halidegym.envs.timing.kernel import RunningKernel
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.native._core import InvalidParameter


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
