"""The commands that measure: `calibrate`, `timing-check`; and how run times are written."""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pipelines_for_tests
from halidegym.agents.learned.cost_models.figures import rank_correlation
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.compiler import Compiler
from halidegym.envs.timing.database import TimingDatabase
from halidegym.envs.timing.measurements import Comparison, Timing
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.evaluation.cli import main
from halidegym.evaluation.commands import calibrate as calibrate_command
from halidegym.evaluation.output import run_times
from halidegym.evaluation.timings.calibration import Calibration, Point, draw
from halidegym.evaluation.timings.calibration_report import cells, write_report
from halidegym.evaluation.timings.timing_check import Repeatability, Throughput

MM = f"{pipelines_for_tests.__file__}:mm"
QUICK = ["--parallelism", "2", "--threads", "1", "--sample-seconds", "0.02", "--patience", "0.01"]


def halidegym(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


def test_calibration_of_what_was_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="an optional dependency")
    command = ["calibrate", MM, *QUICK, "--schedules", "4", "--cache", tmp_path / "cache"]
    assert halidegym(*command, "--prepare").stdout == ""

    def nothing_left(*_: object, **__: object) -> None:
        raise AssertionError("it has been compiled")

    monkeypatch.setattr(Compiler, "compile", nothing_left)
    page = tmp_path / "page.md"
    command += ["--database", tmp_path / "timings.db", "--output", page]
    first = halidegym(*command)
    text, plot = page.read_text(), page.with_suffix(".svg").read_text()
    assert re.search(r"\| mm \| 4 \| 2 \| 0 \| 0 \| -?[01]\.\d\d \|", text)
    assert "<svg" in plot
    monkeypatch.setattr(Stopwatch, "time_all", nothing_left)
    assert halidegym(*command).stdout == first.stdout
    assert (page.read_text(), page.with_suffix(".svg").read_text()) == (text, plot)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["calibrate", MM, "--seconds", "nan"], "'nan' is no number"),
        (["calibrate", MM, "--seconds", "0"], "Invalid value for '--seconds': 0.0 is not in the range 0<x<inf."),
        (["collect", MM, "--hours", "nan"], "'nan' is no number"),
        (["collect", MM, "--rounds", "99999999999"], "rounds=99999999999 is out of range"),
        (["collect", MM, "--threads", "2,0"], "Invalid value for '--threads': 0 is not in the range x>=1."),
        (["time", MM, "root", "--timeout", "nan"], "'nan' is no number"),
        (
            ["time", MM, "--search-seconds", "-1"],
            "Invalid value for '--search-seconds': -1.0 is not in the range 0<x<inf.",
        ),
        (["time", MM, "--seed", "-1"], "Invalid value for '--seed': -1 is not in the range 0<=x<=4294967295."),
        (["calibrate", MM, "--output", "page.svg"], "name the page such as page.md"),
        (["calibrate", MM, "--output", "page.csv"], "name the page such as page.md"),
        (["calibrate", MM, "--output", "taken.md"], "'taken.svg' is a directory"),
        (["calibrate", MM, "misspelt", "--output", "page.md"], "There is no pipeline 'misspelt'"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    if arguments[0] == "collect":
        pytest.importorskip("pyarrow", reason="an optional dependency")
    if "misspelt" in arguments:
        pytest.importorskip("matplotlib", reason="an optional dependency")

    def measured(*_: object, **__: object) -> None:
        raise AssertionError("it began to measure")

    for name in ("compile", "time_all", "compare_all"):
        monkeypatch.setattr(Stopwatch, name, measured)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.svg").mkdir()
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.stderr.split())


def test_a_page_without_matplotlib_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(calibrate_command, "calibrate", lambda *_, **__: pytest.fail("it began to measure"))
    result = CliRunner().invoke(main, ["calibrate", MM, "--output", str(tmp_path / "page.md")])
    assert (result.exit_code, "The plot needs matplotlib" in result.stderr) == (2, True), result.output


def test_an_interrupted_calibration_reports_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="an optional dependency")

    def interrupted(problem: SchedulingProblem, *_: object, **__: object) -> Calibration:
        if problem.name != "mm":
            raise KeyboardInterrupt
        return Calibration("mm", 2, 5.0, (Point("good", 1.0, 1.0), Point("good", 2.0, 2.0)))

    monkeypatch.setattr(calibrate_command, "calibrate", interrupted)
    page = tmp_path / "page.md"
    result = CliRunner().invoke(main, ["calibrate", MM, "toy_scan", "--output", str(page)])
    assert result.exit_code == 1, result.output
    assert "mm" in result.stdout and "| mm | 2 |" in page.read_text()
    nothing = CliRunner().invoke(main, ["calibrate", "toy_scan", "--output", str(page)])
    assert (nothing.exit_code, nothing.stdout) == (1, "") and "| mm | 2 |" in page.read_text()


def test_a_calibration_tells_why_schedules_failed() -> None:
    result = halidegym("calibrate", MM, *QUICK, "--schedules", "3", "--flush", "99999999")
    assert re.search(r"mm: 3 failed, \w+: \w+", result.stdout), result.stdout


def test_memory_is_kept_or_goes_back_to_the_system(tmp_path: Path) -> None:
    database = tmp_path / "timings.db"
    for options in ((), ("--return-memory",)):
        halidegym("time", MM, *QUICK, "--rounds", "1", "root", "--database", database, *options)
    with TimingDatabase(database, read_only=True) as timings:
        assert [json.loads(record.key.settings)["keep_memory"] for record in timings.records()] == [True, False]


def test_timing_check() -> None:
    result = halidegym(
        "timing-check", MM, *QUICK, "--first", "greedy", "--second", "root", "--comparisons", "1", "--schedules", "2"
    )
    assert "loaded" in result.stdout
    assert re.search(r"2 schedules in .* a minute.*compile .*link .*run", " ".join(result.stdout.split()))


def test_draws_are_complete_repeatable_and_of_both_kinds() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.ALL["blur"](), parallelism=2)
    first, again = (list(itertools.islice(draw(problem, 3), 6)) for _ in range(2))
    assert [(drawn.kind, drawn.cost) for drawn in first] == [(drawn.kind, drawn.cost) for drawn in again]
    assert [drawn.kind for drawn in first] == ["greedy", *["random", "careless"] * 2, "random"]
    assert first[0].cost == Greedy().plan(problem).cost


def test_rank_correlation() -> None:
    assert rank_correlation([1, 2, 3, 4], [10, 20, 300, 4000]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    # Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5.
    assert rank_correlation([1, 5, 5, 9], [1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))
    assert math.isnan(rank_correlation([1, 2], [1, 2]))
    assert math.isnan(rank_correlation([1, 1, 1], [1, 2, 3]))


def test_calibration_summaries() -> None:
    points = [
        Point("random", 1.0, 6.0),
        Point("good", 2.0, 2.0),
        Point("good", 3.0, 3.0, is_disturbed=True),
        Point("random", 0.5, math.inf),
    ]
    calibration = Calibration("p", 2, 5.0, tuple(points))
    assert len(calibration.ranked) == 3
    assert calibration.regret == 3.0
    assert calibration.rank_correlation == pytest.approx(-0.5)
    tied = Calibration("p", 2, 5.0, (*points, Point("good", 1.0, 24.0)))
    assert tied.regret == pytest.approx(6.0)
    assert math.isnan(Calibration("p", 2, 5.0, ()).regret)


@pytest.mark.parametrize(("low", "high"), [(3.2, 9.5), (1.1, 2.8), (0.5, 60.0), (4.0, 4.2)])
def test_every_axis_of_a_calibration_has_numbers(low: float, high: float, tmp_path: Path) -> None:
    points = tuple(Point("good", cost, cost * 1e-3) for cost in (low, high))
    write_report([Calibration("p", 2, 50.0, points)], tmp_path / "page.md", "command")
    texts = re.findall(r">([^<>]+)</text>", (tmp_path / "page.svg").read_text())
    numbers = [float(text) for text in texts if re.fullmatch(r"[\d.]+", text)]
    assert sum(low * 0.9 <= number <= high * 1.1 for number in numbers) >= 4, "two on each axis"


def test_schedules_that_are_too_slow_rank_last() -> None:
    slow, late = Timing("timeout", (), 1.0, run_s=5.1), Timing("timeout", (), 300.0, "the compiler: still running")
    points = [Point.of("random", 9.0, slow, 5.0), Point.of("random", 0.5, late, 5.0)]
    points += [Point("good", 1.0, 1.0), Point("good", 2.0, 2.0)]
    calibration = Calibration("p", 2, 5.0, tuple(points))
    assert [point.seconds for point in calibration.ranked] == [5.0, 1.0, 2.0]
    assert calibration.rank_correlation == pytest.approx(1)
    assert cells(calibration)[:5] == ("p", "4", "2", "1", "1")


def test_repeatability_counts_flips_and_wrong_verdicts() -> None:
    timing = Timing("ok", (1.0, 1.0, 1.0), 0.0, disturbed=(False,) * 3)
    marked = Timing("ok", (1.0, 1.0, 1.0), 0.0, disturbed=(True,) * 3)
    comparisons = [Comparison(1.2, 1.1, 1.3, timing, timing)] * 3
    doubtful, wrong = Comparison(0.99, 0.9, 1.1, marked, timing), Comparison(0.9, 0.8, 0.95, timing, timing)
    result = Repeatability((*comparisons, doubtful, wrong))
    assert (result.median, result.flips, result.wrong_verdicts, result.disturbed) == (1.2, 2, 1, 1)
    assert result.spread == pytest.approx(0.25)


def test_throughput_adds_up() -> None:
    timing = Timing("ok", (1.0,), 1.1, halide_s=1.0, link_s=0.1, run_s=0.9)
    result = Throughput(2, 4.0, (timing, timing))
    assert result.per_minute == 30
    assert result.shares == pytest.approx({"compile": 0.5, "link": 0.05, "run": 0.45})
    assert result.overhead == pytest.approx(0.1)


def test_failures_are_shown() -> None:
    assert (run_times.outcome(None, "it died\nof something"), run_times.median_ms(None)) == (
        "no schedule: it died",
        "-",
    )
    assert run_times.speed(None) == "-"
    crashed = Timing("crash", (), 0.1, "ended by SIGSEGV")
    assert (run_times.outcome(crashed, ""), run_times.least_ms(crashed)) == ("crash: ended by SIGSEGV", "-")


def test_run_times_of_nanoseconds_are_shown() -> None:
    assert run_times.least_ms(Timing("ok", (2.81e-7,), 0.1)) == "0.000281"
    assert run_times.least_ms(Timing("ok", (1.2345,), 0.1)) == "1234.500"
