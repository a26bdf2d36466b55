"""A record of measurements, and a problem to measure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import pipelines_for_tests
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.database import TimingDatabase


@pytest.fixture
def database(tmp_path: Path) -> Iterator[TimingDatabase]:
    with TimingDatabase(tmp_path / "timings.db") as database:
        yield database


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.ALL["blur"](), parallelism=2, name="blur")
