"""`halidegym transform plan` and `space`, and `reproduce tag-library`."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from halidegym.envs.transform.timer import TransformTimer
from halidegym.evaluation.cli import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_counts() -> None:
    lines = run("transform", "space", 16, 1024).output.splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["16", "basic", "25", "10", "51", "43", "458", "1872"],
        ["16", "lanes", "25", "10", "80", "672", "2684", "37075"],
        ["1024", "basic", "524", "28", "1344", "1.7e+05", "5.4e+07", "1.7e+13"],
        ["1024", "lanes", "524", "28", "2191", "4.0e+08", "8.4e+09", "1.2e+17"],
    ]
    assert "> 3.4e+38" in run("transform", "space", 65536, "--space", "wide").output


@pytest.mark.parametrize("agent", ["tag", "dp", "greedy", "exhaustive"])
def test_plans_by_the_model(agent: str) -> None:
    result = run("transform", "plan", 64, "--cost", "model", "--agent", agent)
    assert result.exit_code == 0
    assert "1.000 of the optimum's" in result.output
    assert "split 16 inplace (codelet 4) (codelet 4)" in result.output


@pytest.mark.parametrize(("n", "libraries"), [(32, ["FFTW", "pocketfft"]), (2, ["pocketfft"])])
def test_plans_by_run_time(n: int, libraries: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyfftw")
    monkeypatch.setattr(import_module("halidegym.evaluation.commands.transform.plan"), "_ROUNDS", 2)
    result = run("transform", "plan", n, "--evaluations", 10, "--database", tmp_path / "times.sqlite")
    assert result.exit_code == 0, result.output
    assert "(model's)" in result.output
    speed = ", ".join(rf"[\d.]+ \[.*\] times {library}'s" for library in libraries)
    assert re.search(rf"Speed: {speed}\n", result.output)
    assert (tmp_path / "times.sqlite").exists()


def test_plans_by_run_time_without_fftw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "halidegym.evaluation.studies.transform_libraries", raising=False)
    monkeypatch.setitem(sys.modules, "pyfftw", None)
    result = run("transform", "plan", 16, "--evaluations", 10)
    assert result.exit_code == 0, result.output
    assert "Not compared with FFTW" in result.output and "pip install 'halidegym[bench]'" in result.output


def test_the_experiment_is_replayed(tmp_path: Path) -> None:
    arguments = ["reproduce", "tag-library", 16, "--evaluations", 20, "--seeds", 1]
    files = ["--database", tmp_path / "times.sqlite", "--output", tmp_path]
    measured = run(*arguments, *files)
    assert measured.exit_code == 0, measured.output
    assert {path.name for path in tmp_path.glob("tag*")} == {
        "tag-library.csv",
        "tag-library-shares.csv",
        "tag-library-searches.tsv",
        "tag-library.svg",
    }
    first, second = (run(*arguments, *files, "--replay") for _ in range(2))
    assert first.exit_code == 0, first.output
    assert first.output == second.output
    assert "DP, quick" in first.output
    assert run(*arguments, "--replay").exit_code == 2
    others = run("reproduce", "tag-library", 32, "--seeds", 1, *files, "--replay")
    assert others.exit_code == 2
    assert "run the same command without --replay first" in " ".join(others.stderr.split())
    wide = run("reproduce", "tag-library", 8, "--space", "wide", "--evaluations", 10, "--seeds", 1, *files[2:])
    assert wide.exit_code == 0, wide.output
    assert (tmp_path / "tag-library-wide.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("space", 22), "prime factor 11"),
        (("space", 0), "from 2 to 65536"),
        (("plan", 60480, "--space", "wide", "--cost", "model"), "more than 1000000 problems"),
        (("plan", 64, "--cost", "model", "--context", -1), "--context"),
        (("plan", 64, "--agent", "dp", "--evaluations", 100), "--evaluations is not for --agent dp"),
        (("plan", 64, "--context", 5), "--context is of --cost model"),
        (("plan", 64, "--cost", "model", "--database", "plans.db"), "leave one of them out"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[object, ...], message: str) -> None:
    result = run("transform", *arguments)
    assert result.exit_code == 2
    assert message in result.output.splitlines()[-1]


def test_a_size_that_is_none_is_refused_before_the_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TransformTimer, "_call", lambda *_: pytest.fail("something was measured"))
    for command in (["transform", "compare"], ["reproduce", "tag-library"]):
        result = run(*command, 16, 22, "--output", tmp_path / "found")
        assert (result.exit_code, "prime factor 11" in result.output) == (2, True), result.output


def test_help_says_that_few_rounds_have_no_interval() -> None:
    assert "of fewer than 6, the range stands" in " ".join(run("transform", "compare", "--help").output.split())
