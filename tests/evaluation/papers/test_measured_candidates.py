"""The experiment that lets run times choose, with run times that are made up; and on a real machine, if slow tests run."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from click.testing import CliRunner

import pipelines_for_tests
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule import Schedule
from halidegym.evaluation.cli import main
from halidegym.evaluation.papers import measured_candidates as reproduce_measured
from oracle.builder_problem import SSE_AVX2
from timers_for_tests import MadeUpTimes

MM = f"{Path(pipelines_for_tests.__file__)}:mm"


def run_time(schedule: Schedule) -> float:
    """Schedules for 16 cores are the fastest."""
    return 1.0 if schedule.problem.parallelism == 16 else 2.0


def test_candidates_for_other_numbers_of_cores_widen_the_choice() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=2)
    few, more = reproduce_measured.choose_by_time(problem, candidates=4, beam_size=2, timer=MadeUpTimes(run_time))
    assert (few.parallelisms, more.parallelisms) == ((2,), (2, 16))
    assert (few.comparison.ratio, more.comparison.ratio) == (1.0, 2.0)
    assert more.plan.fingerprint.parallelism == 16
    assert more.plan.measurements is not None
    assert more.plan.measurements <= 4


def test_choices_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    command = importlib.import_module("halidegym.evaluation.commands.reproduce.measured_candidates")
    monkeypatch.setattr(command, "caching_timer", lambda *_: MadeUpTimes(run_time))
    arguments = ["reproduce", "measured-candidates", MM, "--candidates", "2", "--beam", "2", "--cores", "16"]
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "300"})
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.output.splitlines()]
    assert [row[-5:] for row in rows if row[:1] == [MM]] == [
        ["1.00", "1.00", "to", "1.00", "ok"],
        ["2.00", "2.00", "to", "2.00", "ok"],
    ]
    assert [row[-1] for row in rows if row[:2] == ["geometric", "mean"]] == ["1.00", "2.00"]


@pytest.mark.slow
def test_choices_on_this_machine() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.mm, parallelism=1)
    for choice in reproduce_measured.choose_by_time(problem, parallelisms=(4,), candidates=2, beam_size=2):
        assert choice.comparison.a.outcome == choice.comparison.b.outcome == "ok"
        assert choice.comparison.ratio > 0
