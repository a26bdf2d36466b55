"""Tuned schedules against the default, draws and Halide's recipe: the parts; and all of it, if slow tests run."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import pipelines_for_tests
from halidegym.agents.budget import Budget
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.proposals import Proposal, careless_descents
from halidegym.agents.tuner.autotune import Autotune
from halidegym.agents.tuner.plan import TuningStep
from halidegym.agents.tuner.trials import Trials
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.evaluation.cli import main
from halidegym.evaluation.studies.tuning import Beaten, Faster, Tuned
from halidegym.evaluation.studies.tuning_rivals import Endless, Rival, fastest_of, halides_recipe
from halidegym.native._core import FormatError
from oracle.builder_problem import SSE_AVX2
from timers_for_tests import MadeUpTimes


def test_what_an_endless_source_proposes_is_never_measured_twice() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.stencil3, target=SSE_AVX2, parallelism=2)
    draws, trials = Endless(careless_descents(Rules().space(problem), 3)), Trials()
    found: list[Proposal] = []
    for _ in range(3):
        batch = draws.more(trials, 5)
        for proposal in batch:
            trials.skip(proposal)
        found += batch
    assert len({proposal.state.dump() for proposal in found}) == 15
    assert {(proposal.kind, proposal.parallelism) for proposal in found} == {("careless", 2)}


def test_halides_recipe_begins_with_its_beam_and_goes_on_with_dropout() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.stencil3, target=SSE_AVX2, parallelism=2)
    found = Endless(halides_recipe(Rules().space(problem), 3)).first(Trials(), 6)
    assert [proposal.kind for proposal in found] == ["beam", *["dropout"] * 5]
    assert found[0].actions == BeamSearch().plan(problem).actions


@pytest.mark.parametrize(("rival", "is_baseline"), [("recipe", True), ("draws", False)])
def test_halides_recipe_falls_back_on_its_beam_and_draws_do_not(rival: Rival, is_baseline: bool) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur, target=SSE_AVX2, parallelism=2)
    baseline = BeamSearch().plan(problem).schedule
    timer = MadeUpTimes(lambda schedule: 1.0 if schedule.cpp() == baseline.cpp() else 2.0)
    agent, budget = Autotune(batch=4, finalists=2), Budget(measurements=8)
    schedule, measured = fastest_of(rival, problem, budget, seed=0, timer=timer, agent=agent)
    assert (schedule.cpp() == baseline.cpp()) is is_baseline
    assert measured == 8 + is_baseline


def _tuned() -> Tuned:
    faster, failed = Faster(2.0, 1.5, 2.5), Faster(math.nan, math.nan, math.nan)
    curve = (TuningStep(1.0, 4, 1.5, "beam"), TuningStep(3.0, 8, 2.0, "crossing"))
    rivals = (Beaten("draws", 8, faster, failed),)
    return Tuned(8, 1, 0.4, 0.2, False, faster, rivals, 4.0, 1.0, 2.0, 0.0, curve)


def test_results_are_read_as_they_were_written() -> None:
    kept = _tuned().to_json()
    assert Tuned.from_json(kept, "runs.tsv").to_json() == kept
    failed = dataclasses.replace(_tuned(), default_s=math.inf, to_default=Faster(math.nan, math.nan, math.nan))
    assert Tuned.from_json(failed.to_json(), "runs.tsv").to_json() == failed.to_json()


@pytest.mark.parametrize(
    "changes",
    [
        {"to_default": Faster(0.0, 1.0, 2.0)},
        {"to_default": Faster(-1.0, 1.0, 2.0)},
        {"to_default": Faster(math.inf, 1.0, 2.0)},
        {"rivals": (Beaten("draws", 8, Faster(1.0, 1.0, 1.0), Faster(1.0, 0.0, 2.0)),)},
        {"rivals": (Beaten("draws", -8, Faster(1.0, 1.0, 1.0), Faster(1.0, 1.0, 2.0)),)},
        {"measurements": -1},
        {"tuned_s": 0.0},
        {"default_s": math.nan},
        {"run_seconds": math.nan},
        {"curve": (TuningStep(1.0, 4, math.nan, "beam"),)},
    ],
    ids=str,
)
def test_numbers_that_no_tuning_gives_are_told(changes: dict[str, Any]) -> None:
    damaged = dataclasses.replace(_tuned(), **changes).to_json()
    with pytest.raises(FormatError, match=r"runs\.tsv has a line that is no result of tuning .*; remove the line"):
        Tuned.from_json(damaged, "runs.tsv")


@pytest.mark.slow
def test_the_experiment_on_this_machine(tmp_path: Path) -> None:
    table, curves = tmp_path / "tuning.csv", tmp_path / "curves.tsv"
    arguments = ["reproduce", "tuning", f"{pipelines_for_tests.__file__}:blur", "--seconds", "20", "--parallelism", "1"]
    rivals = ["--against", "draws", "--against", "recipe"]
    result = CliRunner().invoke(main, [*arguments, *rivals, "--output", str(table), "--curves", str(curves)])
    assert result.exit_code == 0, result.output
    header, row = table.read_text().splitlines()
    assert header.startswith("Pipeline,Measured") and ":blur," in row
    assert row.count(" to ") == 3  # intervals against the default and both rivals
    assert curves.read_text().startswith("Pipeline\tSeconds")
