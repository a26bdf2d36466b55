"""The commands that measure: `timings`, `calibrate`, `timing-check`."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pipelines_for_tests
from halidegym.agents.greedy import Greedy
from halidegym.envs.compiler import Compiler
from halidegym.envs.measurements import Comparison, Timing
from halidegym.envs.problem import SchedulingProblem
from halidegym.envs.stopwatch import Stopwatch
from halidegym.envs.trusted_schedule import TrustedSchedule
from halidegym.evaluation.calibration import Calibration, Point, draw, spearman
from halidegym.evaluation.cli import main
from halidegym.evaluation.schedule_argument import Candidate
from halidegym.evaluation.side_by_side import Row
from halidegym.evaluation.timing_check import Repeatability, Throughput

MM = f"{pipelines_for_tests.__file__}:mm"
QUICK = ["--parallelism", "2", "--threads", "1", "--sample-seconds", "0.02", "--patience", "0.01"]


def halidegym(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


def test_timings_of_many_pipelines(tmp_path: Path) -> None:
    page = tmp_path / "timings.md"
    halidegym("timings", MM, *QUICK, "--schedules", "greedy,root", "--rounds", "2", "--output", page)
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in page.read_text().splitlines() if "| mm" in line
    ]
    assert [(row[1], row[4] != "-", row[5] == "-") for row in rows] == [("greedy", True, True), ("root", True, False)]
    late = halidegym("timings", MM, *QUICK, "--seconds", "0")
    assert "not begun" in late.stdout


def test_timings_of_what_was_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["timings", MM, *QUICK, "--schedules", "greedy,root", "--rounds", "2", "--cache", tmp_path / "cache"]
    assert halidegym(*command, "--prepare").stdout == ""
    made = sorted(path.suffix for path in tmp_path.glob("cache/*/*"))
    assert made == [".json", ".json", ".plan", ".plan", ".so", ".so"]  # the trusted schedule is root

    def nothing_left(*_: object, **__: object) -> None:
        raise AssertionError("it has been prepared")

    monkeypatch.setattr(Compiler, "compile", nothing_left)
    monkeypatch.setattr(Greedy, "plan", nothing_left)
    database = tmp_path / "timings.db"
    first = halidegym(*command, "--database", database)
    assert "root" in first.stdout
    monkeypatch.setattr(Stopwatch, "compare_all", nothing_left)
    assert halidegym(*command, "--database", database).stdout == first.stdout
    without = CliRunner().invoke(main, ["timings", MM, "--prepare"])
    assert without.exit_code == 2
    assert "--cache" in without.output


def test_calibration_writes_a_page_and_a_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="an optional dependency")
    page, database = tmp_path / "page.md", tmp_path / "timings.db"
    arguments = ["calibrate", MM, *QUICK, "--schedules", "4", "--database", database, "--output", page]
    first = halidegym(*arguments)
    text, plot = page.read_text(), page.with_suffix(".svg").read_text()
    assert re.search(r"\| mm \| 4 \| 0 \| -?[01]\.\d\d \|", text)
    assert "<svg" in plot
    assert halidegym(*arguments).stdout == first.stdout
    assert (page.read_text(), page.with_suffix(".svg").read_text()) == (text, plot)


def test_timing_check() -> None:
    result = halidegym(
        "timing-check", MM, *QUICK, "--first", "greedy", "--second", "root", "--comparisons", "1", "--schedules", "2"
    )
    assert "loaded" in result.stdout
    assert re.search(r"2 schedules in .* a minute.*compile .*link .*run", " ".join(result.stdout.split()))


def test_draws_are_complete_repeatable_and_of_both_kinds() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.ALL["blur"](), parallelism=2)
    first, again = ([next(drawn) for _ in range(6)] for drawn in (draw(problem, 3), draw(problem, 3)))
    assert [(kind, state.cost()) for kind, state in first] == [(kind, state.cost()) for kind, state in again]
    assert [kind for kind, _ in first] == ["random", "good"] * 3
    assert all(state.is_complete for _, state in first)


def test_rank_correlation() -> None:
    assert spearman([1, 2, 3, 4], [10, 20, 300, 4000]) == pytest.approx(1)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    # Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5.
    assert spearman([1, 5, 5, 9], [1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))
    assert math.isnan(spearman([1, 2], [1, 2]))
    assert math.isnan(spearman([1, 1, 1], [1, 2, 3]))


def test_calibration_summaries() -> None:
    points = [
        Point("random", 1.0, 6.0, False),
        Point("good", 2.0, 2.0, False),
        Point("good", 3.0, 3.0, True),
        Point("random", 0.5, math.inf, False),
    ]
    calibration = Calibration("p", 2, tuple(points))
    assert len(calibration.timed) == 3
    assert calibration.regret == 3.0
    assert calibration.rank_correlation == pytest.approx(-0.5)
    assert math.isnan(Calibration("p", 2, ()).regret)


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


def test_rows_show_failures() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.ALL["blur"](), parallelism=2)
    absent = Row(Candidate("adams2019", None, failure="it died\nof something"))
    assert (absent.outcome, absent.median_ms, absent.speedup) == ("no schedule: it died", "-", "-")
    crashed = Row(Candidate("root", TrustedSchedule(problem), 2.5), Timing("crash", (), 0.1, "ended by SIGSEGV"))
    assert (crashed.outcome, crashed.cost, crashed.min_ms) == ("crash: ended by SIGSEGV", "2.5", "-")
