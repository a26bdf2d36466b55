"""`halidegym reproduce`: what means nothing is refused before an experiment begins, which may take hours."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks_for_tests import halidegym
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import Error
from halidegym.native.weights import builtin_weights, save_weights


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learned", "toy_scan", "toy_scann", "--output", "out"], "There is no pipeline 'toy_scann'"),
        (["learned", "toy_scan", "--agent", "gredy", "--output", "out"], "--agent 'gredy' is in no agent's name"),
        (["learned", "toy_scan", "--generated", "2", "--output", "out"], "Give PIPELINEs or --generated, not both."),
        (["tuning", "toy_scan", "none.py:f", "--output", "out"], "There is no file none.py"),
        (["tuning", "toy_scan", "--seed", "-1", "--output", "out"], "seed=-1 is no seed"),
        (
            ["cost-model-beams", "toy_scan", "scann", "--weights", "w", "--output", "out"],
            "There is no pipeline 'scann'",
        ),
        (["measured-candidates", "toy_scan", "toy_scann"], "There is no pipeline 'toy_scann'"),
        (["measured-candidates", "toy_scan", "--cores", "4,0"], "cores=0 is out of range"),
    ],
)
def test_bad_input_is_refused_before_anything_is_run(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_weights(builtin_weights(), "w")
    command = import_module(f"halidegym.evaluation.commands.reproduce.{arguments[0].replace('-', '_')}")
    monkeypatch.setattr(command, "load_problem", lambda *_, **__: pytest.fail("it has begun"), raising=False)
    monkeypatch.setattr(command, "compare", lambda *_, **__: pytest.fail("it has begun"), raising=False)
    result = halidegym("reproduce", *arguments)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.output.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "part"), [(["tuning"], "tune_and_compare"), (["cost-model-beams", "--weights", "w"], "_seconds")]
)
def test_if_every_pipeline_fails_so_does_the_experiment(
    arguments: list[str], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(problem: SchedulingProblem, *_: object, **__: object) -> None:
        raise Error(f"{problem.name} cannot be timed")

    monkeypatch.chdir(tmp_path)
    save_weights(builtin_weights(), "w")
    command = import_module(f"halidegym.evaluation.commands.reproduce.{arguments[0].replace('-', '_')}")
    monkeypatch.setattr(command, part, fails)
    result = halidegym("reproduce", *arguments, "toy_scan", "toy_blur", "--output", "out")
    assert result.exit_code == 2, result.output
    assert "toy_blur: toy_blur cannot be timed" in result.stderr
    assert "None of the pipelines could be" in result.stderr
    assert not (tmp_path / "out").exists()
