"""Tuned schedules against the default and against draws: the parts; and all of it on this machine, if slow tests run."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import pipelines_for_tests
from halidegym.agents.proposals import Proposal
from halidegym.agents.tuner.trials import Trials
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.evaluation.cli import main
from halidegym.evaluation.studies.tuning import CarelessDraws
from oracle.builder_problem import SSE_AVX2


def test_draws_are_careless_and_different() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.stencil3, target=SSE_AVX2, parallelism=2)
    draws, trials = CarelessDraws(problem, seed=3), Trials()
    found: list[Proposal] = []
    for _ in range(3):
        batch = draws.more(trials, 5)
        for proposal in batch:
            trials.skip(proposal)
        found += batch
    assert len({proposal.state.dump() for proposal in found}) == 15
    assert {(proposal.kind, proposal.parallelism) for proposal in found} == {("careless", 2)}


@pytest.mark.slow
def test_the_experiment_on_this_machine(tmp_path: Path) -> None:
    table, curves = tmp_path / "tuning.csv", tmp_path / "curves.tsv"
    arguments = ["reproduce", "tuning", f"{pipelines_for_tests.__file__}:blur", "--seconds", "20", "--parallelism", "1"]
    result = CliRunner().invoke(main, [*arguments, "--output", str(table), "--curves", str(curves)])
    assert result.exit_code == 0, result.output
    header, row = table.read_text().splitlines()
    assert header.startswith("Pipeline,Measured") and ":blur," in row
    assert curves.read_text().startswith("Pipeline\tSeconds")
