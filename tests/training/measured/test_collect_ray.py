"""`halidegym collect --workers ray` measures what it measures on one machine, on several nodes."""

from __future__ import annotations

import functools
import math
import subprocess
import sys
from pathlib import Path

import pytest

from halidegym.envs.sources import load_problem
from halidegym.envs.timing.machine import this_machine
from halidegym.training.measured.collection import MeasuredCollection
from halidegym.training.measured.sets import Recipe, draw
from ray_nodes import RayNodes

NAMES = ["random-train-v1/9", "random-validation-v1/1"]
COMMAND = "from halidegym.evaluation.cli import main; main()"
OPTIONS = ["--schedules", "8", "--rounds", "2", "--compile-seconds", "60", "--output", "measured", "--workers", "ray"]


@pytest.mark.slow
def test_sets_come_from_nodes(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="an optional dependency")
    with RayNodes() as nodes:
        for _ in range(2):
            nodes.add(num_cpus=1, resources={"timing": 1})
        collect = functools.partial(
            subprocess.run, cwd=tmp_path, env=nodes.environment(), stderr=subprocess.PIPE, text=True, check=False
        )
        first = collect([sys.executable, "-c", COMMAND, "collect", NAMES[0], *OPTIONS])
        assert first.returncode == 0, first.stderr
        before = MeasuredCollection.load(tmp_path / "measured").schedules
        both = collect([sys.executable, "-c", COMMAND, "collect", *NAMES, *OPTIONS])
        assert both.returncode == 0, both.stderr
    collection = MeasuredCollection.load(tmp_path / "measured")
    assert repr(collection.schedules[: len(before)]) == repr(before)
    recipe = Recipe(schedules=8, parallelisms=(1, this_machine().cores))
    for name, schedules in collection.sets.items():
        drawn = draw(load_problem(name.pipeline, parallelism=1), recipe)
        assert [schedule.actions for schedule in schedules] == [proposal.actions for proposal in drawn]
        assert all(schedule.outcome == "ok" and not math.isnan(schedule.run_time_s) for schedule in schedules)
    assert sorted(name.pipeline for name in collection.sets) == NAMES
