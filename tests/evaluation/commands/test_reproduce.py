"""`halidegym reproduce`: what means nothing is refused before an experiment begins, which may take hours."""

from __future__ import annotations

import itertools
import math
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks_for_tests import halidegym
from halidegym.agents.tuner.plan import TuningStep
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.evaluation.papers import greedy_trees, mb2fbs, synthetic_trees, tag_library
from halidegym.evaluation.studies.tuning import Beaten, Faster, Tuned
from halidegym.native._core import Error, FormatError
from halidegym.native.weights import builtin_weights, save_weights


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learned", "toy_scan", "toy_scann", "--output", "out"], "There is no pipeline 'toy_scann'"),
        (["learned", "toy_scan", "--agent", "gredy", "--output", "out"], "--agent 'gredy' is in no agent's name"),
        (["learned", "toy_scan", "--generated", "2", "--output", "out"], "Give PIPELINEs or --generated, not both."),
        (["tuning", "toy_scan", "none.py:f", "--output", "out"], "There is no file none.py"),
        (
            ["tuning", "toy_scan", "--seed", "-1", "--output", "out"],
            "Invalid value for '--seed': -1 is not in the range",
        ),
        (
            ["cost-model-beams", "toy_scan", "scann", "--weights", "w", "--output", "out"],
            "There is no pipeline 'scann'",
        ),
        (["measured-candidates", "toy_scan", "toy_scann"], "There is no pipeline 'toy_scann'"),
        (["measured-candidates", "toy_scan", "--cores", "4,0"], "cores=0 is out of range"),
        (["mb2fbs-tables", "mat_mul", "--all", "--output", "out"], "Give PIPELINEs or --all, not both."),
        (["protuner-figures-4-5", "mat_mul", "--scale", "-1", "--output", "out"], "Invalid value for '--scale'"),
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


def _tuned(ratio: float) -> Tuned:
    faster, failed = Faster(ratio, ratio / 2, ratio * 2), Faster(math.nan, math.nan, math.nan)
    return Tuned(
        measurements=12, failures=1, default_s=math.inf, tuned_s=0.001, is_default_ours=True, to_default=faster,
        rivals=(Beaten("draws", 12, faster, faster), Beaten("recipe", 3, failed, failed)), seconds=60.5,
        search_seconds=1.5, compile_seconds=40.0, run_seconds=20.0, curve=(TuningStep(6.9, 8, ratio, "beam"),),
    )  # fmt: skip


def test_tuning_that_was_ended_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ended = iter([False, True])

    def tune(problem: SchedulingProblem, *_: object, **__: object) -> Tuned:
        if next(ended, False):
            raise KeyboardInterrupt
        asked.append(problem.name)
        return _tuned({"toy_scan": 1.2345, "toy_blur": 2.3456}[problem.name])

    command = import_module("halidegym.evaluation.commands.reproduce.tuning")
    monkeypatch.setattr(command, "tune_and_compare", tune)

    def run(folder: str, *changes: str) -> tuple[str, str]:
        (tmp_path / folder).mkdir(exist_ok=True)
        files = [tmp_path / folder / name for name in ("table.csv", "curves.tsv")]
        arguments = [
            "tuning",
            "toy_scan",
            "toy_blur",
            "--parallelism",
            "2",
            "--against",
            "draws",
            "--against",
            "recipe",
        ]
        halidegym("reproduce", *arguments, *changes, "--output", files[0], "--curves", files[1])
        return files[0].read_text(), files[1].read_text()

    assert "toy_blur" not in "".join(run("ended"))
    found = run("ended")
    assert asked == ["toy_scan", "toy_blur"]
    assert found == run("whole"), "numbers are kept to the last digit"
    assert "toy_blur" in found[0] and "geometric mean" in found[0] and "toy_blur\t6.9\t8\t2.346\tbeam" in found[1]
    asked.clear()
    assert run("ended") == found and asked == []
    for changes in (["--seed", "1"], ["--seconds", "5"], ["--parallelism", "1"]):
        run("ended", *changes)
        assert asked == ["toy_scan", "toy_blur"], changes
        asked.clear()
    monkeypatch.setattr(command, "installation", lambda: {"halidegym": "another version"})
    run("ended")
    assert asked == ["toy_scan", "toy_blur"], "of another version"
    runs = tmp_path / "ended/table-runs.tsv"
    result = halidegym("reproduce", "tuning", "toy_scan", "--output", tmp_path / "ended/table.csv", "--curves", runs)
    assert (result.exit_code, "where the runs are kept" in result.output) == (2, True), result.output


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"to_default": 1}', _tuned(2).to_json().replace("12", "null")])
def test_a_damaged_result_of_tuning_is_told(text: str) -> None:
    with pytest.raises(FormatError, match=r"runs\.tsv has a line that is no result of tuning"):
        Tuned.from_json(text, "runs.tsv")


@pytest.mark.parametrize("command", ["mb2fbs-tables", "mb2fbs-synthetic", "protuner-figures-4-5", "tag-library"])
def test_plots_without_matplotlib_are_refused_before_anything_is_run(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun(*_: object, **__: object) -> None:
        pytest.fail("it has begun")

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for module, name in (
        (mb2fbs, "reproduce"), (synthetic_trees, "figure_6"), (greedy_trees, "run"), (tag_library, "all_searches"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, begun)
    result = halidegym("reproduce", command, "--output", tmp_path / "out")
    assert (result.exit_code, "The plot needs matplotlib" in result.stderr) == (2, True), result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "module", "name", "table"),
    [
        (["mb2fbs-tables", "mat_mul", "hist"], mb2fbs, "reproduce", "tables.csv"),
        (["protuner-figures-4-5", "mat_mul", "hist", "--scale", "1e-5"], greedy_trees, "run", "figures-4-5.csv"),
        (["tag-library", "4", "8", "--seeds", "1", "--evaluations", "3"], tag_library, "all_searches", "tag-library.csv"),
        (
            ["measured-candidates", "toy_blur", "toy_scan", "--beam", "1", "--candidates", "1", "--sample-seconds", "0.01"],
            import_module("halidegym.evaluation.commands.reproduce.measured_candidates"), "choose_by_time", None,
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_an_interrupted_experiment_shows_what_was_done(
    arguments: list[str], module: ModuleType, name: str, table: str | None, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    pytest.importorskip("matplotlib", reason="an optional dependency")
    work, calls = getattr(module, name), itertools.count()

    def interrupted(*args: object, **kwargs: object) -> object:
        if next(calls) == 1:
            raise KeyboardInterrupt
        return work(*args, **kwargs)

    monkeypatch.setattr(module, name, interrupted)
    first, second = arguments[1:3]
    output = [] if table is None else ["--output", str(tmp_path)]
    result = halidegym("reproduce", *arguments, *output)
    assert result.exit_code == 1, result.output
    shown = [result.stdout, *([] if table is None else [(tmp_path / table).read_text()])]
    assert all(re.search(rf"\b{first}\b", text) and not re.search(rf"\b{second}\b.*\d", text) for text in shown)


@pytest.mark.parametrize(
    ("arguments", "module", "name", "table"),
    [
        (["mb2fbs-tables", "mat_mul", "hist"], mb2fbs, "reproduce", "tables.csv"),
        (["protuner-figures-4-5", "mat_mul", "hist", "--scale", "1e-5"], greedy_trees, "run", "figures-4-5.csv"),
        (["tag-library", "4", "8", "--seeds", "1", "--evaluations", "3"], tag_library, "all_searches", "tag-library.csv"),
        (
            ["cost-model-beams", "toy_blur", "toy_scan", "--weights", "w"],
            import_module("halidegym.evaluation.commands.reproduce.cost_model_beams"), "_seconds", "beams.csv",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_less_is_not_written_over_a_table(
    arguments: list[str], module: ModuleType, name: str, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib", reason="an optional dependency")
    monkeypatch.chdir(tmp_path)
    save_weights(builtin_weights(), "w")
    (first, second), rest = arguments[1:3], arguments[3:]
    header = "pipeline,cost\n"
    earlier = f"{header}{second},1\n{first},1\n"
    (tmp_path / table).write_text(earlier)
    work, calls = (lambda *_: (1.0, 2.0)) if name == "_seconds" else getattr(module, name), itertools.count()

    def ends_in_its_second_call(*args: object, **kwargs: object) -> object:
        if next(calls) == 1:
            raise KeyboardInterrupt
        return work(*args, **kwargs)

    monkeypatch.setattr(module, name, ends_in_its_second_call)
    output = ["--output", table if name == "_seconds" else "."]
    refused = halidegym("reproduce", arguments[0], first, *rest, *output)
    assert f"{table} has {second}, too, which this would leave out" in " ".join(refused.output.split())
    assert (refused.exit_code, repr(calls)) == (2, "count(0)"), "it has begun"
    ended = halidegym("reproduce", *arguments, *output)
    assert ended.exit_code == 1 and (tmp_path / table).read_text() == earlier
    assert f"{table} stays as it was: it has {second}, which was not done now" in " ".join(ended.stderr.split())
    whole = halidegym("reproduce", *arguments, *output)
    written = (tmp_path / table).read_text()
    assert whole.exit_code == 0 and "stays" not in whole.stderr, whole.output
    assert header not in written and all(re.search(rf"^{name},", written, re.MULTILINE) for name in (first, second))
