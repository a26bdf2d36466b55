"""`halidegym report` and `halidegym leaderboard`: what they show of runs."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import pytest

import pipelines_for_tests
from benchmarks_for_tests import SUITE, cell_files, halidegym, run_suite
from halidegym.envs.timing.measurements import milliseconds
from halidegym.evaluation.benchmark.report import statistics
from halidegym.evaluation.benchmark.report.groups import Group
from halidegym.evaluation.benchmark.report.tables import ratio_table
from halidegym.evaluation.benchmark.run import Run

SETTINGS = {
    "title": "Toys & <others>",
    "seeds": [0, 1],
    "budgets": [{"evaluations": 50}, {"baseline_seconds": 1}],
    "agents": SUITE["agents"]
    | {
        "Mullapudi | 2016": {"agent": "reference.Mullapudi2016", "deterministic": True, "budgets": []},
        "refused": {"agent": "reference.Adams2019", "deterministic": True, "budgets": [{"evaluations": 50}]},
    },
    "measurement": {"rounds": 6, "sample_seconds": 0.05, "threads": 1, "seeds": 1},
}


@pytest.fixture(scope="module", autouse=True)
def _few_resamples() -> Iterator[None]:
    """What intervals say is another test's; here they only have to be there."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("RESAMPLES", "_PROBABILITY_RESAMPLES", "_PROFILE_RESAMPLES"):
            patch.setattr(statistics, name, 20)
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_suite(tmp_path_factory.mktemp("report"), **SETTINGS)


@pytest.fixture(scope="module")
def report(run: Path) -> Path:
    result = halidegym("report", run)
    assert result.exit_code == 0, result.output
    assert str(run / "report" / "report.html") in result.output.replace("\n", "")
    return run / "report"


def rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="") as file:
        return {row[next(iter(row))]: row for row in csv.DictReader(file)}


def test_the_tables_have_what_the_cells_have(run: Path, report: Path) -> None:
    costs: dict[tuple[str, str], list[float]] = {}
    for file in cell_files(run).values():
        if file["cell"]["budget"] in (None, {"evaluations": 50}) and file["plan"] is not None:
            costs.setdefault((file["cell"]["pipeline"], file["cell"]["agent"]), []).append(file["plan"]["cost"])
    by_pipeline = rows(report / "tables" / "1-cost-pipelines.csv")
    means = []
    for pipeline in SUITE["pipelines"]:
        (beam,), (a, b) = costs[pipeline, "beam"], costs[pipeline, "random"]
        means.append(beam / (a * b) ** 0.5)
        assert by_pipeline[pipeline]["random"] == f"{means[-1]:.3f}"
    summary = rows(report / "tables" / "1-cost-summary.csv")
    assert summary["random"]["mean"] == by_pipeline["geometric mean"]["random"] == f"{(means[0] * means[1]) ** 0.5:.3f}"
    assert (summary["random"]["pipelines"], summary["random"]["verdict"]) == ("2 of 2", "undecided")
    assert set(summary) == {"beam", "random"}, "the others have no costs"
    assert summary["beam"]["mean"] == "1.000"
    effort = rows(report / "tables" / "1-effort.csv")
    assert (effort["random"]["evaluations"], effort["random"]["of its budget"]) == ("50", "100%")
    assert effort["refused"]["failed"] == "2 of 2"
    assert "cannot stop after a number of evaluations" in (report / "tables" / "failures.csv").read_text()


def test_run_times_are_those_that_were_measured(run: Path, report: Path) -> None:
    summary = rows(report / "tables" / "1-time-summary.csv")
    assert set(summary) == {"beam", "random", "Mullapudi | 2016"}
    over_seeds = {agent: row["95 %, seeds"] for agent, row in summary.items()}
    assert over_seeds["random"] == "-", "of one seed of its two the schedules were timed"
    assert "to" in over_seeds["Mullapudi | 2016"] and "to" in summary["random"]["95 %, pipelines and seeds"]
    timings = [json.loads(path.read_text()) for path in sorted((run / "timings").glob("*.json"))]
    ratios = {timing["pipeline"]: timing["comparisons"] for timing in timings}
    by_agent = rows(report / "tables" / "1-time-pipelines.csv")
    with (report / "tables" / "1-times.csv").open(newline="") as file:
        times = {(row["pipeline"], row["agent"]): row for row in csv.DictReader(file)}
    for cell in cell_files(run).values():
        if cell["cell"]["agent"] == "Mullapudi | 2016":
            pipeline = cell["cell"]["pipeline"]
            found = ratios[pipeline][cell["schedule_key"]]
            assert by_agent["Mullapudi | 2016"][pipeline] == f"{found['ratio']:.3f}"
            row = times[pipeline, "Mullapudi | 2016"]
            assert row["least, ms"] == milliseconds(min(found["a"]["samples_s"]))
            assert row["speed, of the baseline's"].startswith(f"{found['ratio']:.3f} [{found['low']:.3f}, ")
    assert (times["toy_scan", "beam"]["speed, of the baseline's"], times["toy_scan", "beam"]["cost"] != "-") == (
        "-",
        True,
    )
    assert times["toy_scan", "refused"]["outcome"].startswith("no schedule: ")


class _Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href") and value]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_page_holds_everything_itself(report: Path) -> None:
    text = (report / "report.html").read_text()
    page = _Page(text)
    markdown = (report / "report.md").read_text()
    plots = re.findall(r"\]\((plots/[\w.-]+)\)", markdown)
    assert {Path(plot).stem for plot in plots} >= {
        f"{group}-{name}"
        for group in (1, 2)
        for name in ("cost-means", "cost-bars", "cost-profile", "time-means", "anytime-evaluations", "anytime-seconds")
    }
    assert all("<svg" in (report / plot).read_text() for plot in plots)
    assert len(page.links) == page.tags.count("img") == len(plots)
    assert all(link.startswith("data:image/svg+xml;base64,") for link in page.links)
    assert page.tags.count("table") == markdown.count("<!-- table:")
    assert "script" not in page.tags and "others" not in page.tags and "<!-- " not in text
    assert "Toys & <others>" in page.words and "the baseline's seconds" in page.words


def test_plots_show_names_as_they_are(tmp_path: Path) -> None:
    """Neither as formulas, nor left out of legends, nor with a warning for each letter that this machine has no font for."""
    names = [r"a $\frac{$", "_own", "\N{CJK UNIFIED IDEOGRAPH-4E94}"]
    changes = {"pipelines": ["toy_scan"], "budgets": [{"evaluations": 20}]}
    run = run_suite(tmp_path, baseline=names[0], agents=dict.fromkeys(names, "RandomSearch"), **changes)
    result = halidegym("report", run)
    assert result.exit_code == 0, result.exception
    bars = (run / "report" / "plots" / "1-cost-bars.svg").read_text(encoding="utf-8")
    assert all(f">{name}</text>" in bars for name in (names[0], f" {names[1]}", names[2]))


def test_long_names_leave_room_for_the_plot(tmp_path: Path) -> None:
    """A warning would tell that there is none."""
    folder = tmp_path / ("folder" * 15)
    folder.mkdir()
    file = shutil.copy(pipelines_for_tests.__file__, folder)
    changes = {"pipelines": [f"{file}:triangular"], "budgets": [{"evaluations": 20}]}
    run = run_suite(tmp_path, baseline="random", agents={"random": "RandomSearch"}, **changes)
    result = halidegym("report", run)
    assert result.exit_code == 0, result.exception
    bars = (run / "report" / "plots" / "1-cost-bars.svg").read_text(encoding="utf-8")
    assert "…" in bars and ".py:triangular</text>" in bars


def test_a_run_that_has_not_ended_is_reported_as_far_as_it_is(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy, ignore=shutil.ignore_patterns("timings", "report"))
    for path in (copy / "cells").glob("toy_scan-random*"):
        path.unlink()
    assert halidegym("report", copy, "--output", tmp_path / "report").exit_code == 0
    assert rows(tmp_path / "report" / "tables" / "1-cost-summary.csv")["random"]["pipelines"] == "1 of 2"
    for path in (copy / "cells").glob("*"):
        path.unlink()
    result = halidegym("report", copy)
    assert (result.exit_code, "has no result of its baseline" in result.output) == (2, True)


def test_leaderboards_have_what_is_valid_machine_by_machine(run: Path, tmp_path: Path) -> None:
    first, second, other, false = (tmp_path / name for name in ("first.zip", "second.zip", "other", "false"))
    assert halidegym("validate", run, "--submission", first).exit_code == 0
    shutil.copy(first, second)
    shutil.copytree(run, other)
    shutil.copytree(run, false)
    header = json.loads((other / "run.json").read_text())
    machine = json.loads((next((other / "cells").glob("*.json"))).read_text())["machine"]
    header["machine"]["cpu"] = "another"
    (other / "run.json").write_text(json.dumps(header))
    fingerprint = Run(other).header.machine.fingerprint
    for path in (other / "cells").glob("*.json"):
        path.write_text(path.read_text().replace(machine, fingerprint))
    path = next((false / "cells").glob("*beam*.json"))
    document = json.loads(path.read_text())
    document["plan"]["cost"] *= 0.5
    path.write_text(json.dumps(document))
    result = halidegym("leaderboard", first, second, other, false)
    assert result.exit_code == 0, result.output
    one, two = result.output.split("another, ")
    assert all(one.count(f"{name} ") == two.count("other │ ") for name in ("first", "second"))
    assert machine in one and fingerprint in two
    assert all("above 1 where an agent is better" in board for board in (one, two))
    assert (
        "false is left out: 2 of its results are not valid, such as cells/" in result.output
        or "false is left out: 1" in two
    )


def test_leaderboards_run_no_code_of_others(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    (tmp_path / "theirs.py").write_text("raise SystemExit('it was run')")
    for path in (copy / "run.json", *(copy / "cells").glob("*.json")):
        path.write_text(path.read_text().replace('"toy_blur"', f'"{tmp_path}/theirs.py:build"'))
    result = halidegym("leaderboard", copy)
    assert result.exit_code == 1
    assert "it was run" not in result.output
    assert "are missing" in result.output


def test_the_demo_ends_with_a_table_and_the_report(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("halidegym.evaluation.commands.demo"), "_SUITE", str(run.parent / "toys.yaml"))
    shutil.copytree(run, tmp_path / "run", ignore=shutil.ignore_patterns("report"))
    result = halidegym("demo", "--output", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert str(tmp_path / "run" / "report" / "report.html") in result.output.replace("\n", "")
    assert "cells are done" in result.output and "Next:" not in result.output, "the report is there"
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.output.splitlines() if "│" in line]
    table = {line[0]: line[1:] for line in lines}
    assert table["beam"] == ["1.000"] * 4
    assert table["Mullapudi | 2016"][0] == "-" and float(table["Mullapudi | 2016"][1]) > 0
    assert table["refused"] == ["-"] * 4
    by_agent = rows(tmp_path / "run" / "report" / "tables" / "1-time-pipelines.csv")
    assert table["random"][2:] == [by_agent["random"][pipeline] for pipeline in SUITE["pipelines"]]


def test_parts_of_pipelines_are_told_from_whole_ones() -> None:
    ratios = {
        "base": {"a": [1.0], "b": [1.0], "net/0": [1.0]},
        "other": {"a": [2.0, 8.0], "b": [1.0], "net/0": [16.0]},
    }
    group = Group("none", False, "base", ("a", "b", "net/0"), {}, {})
    header, lines = ratio_table(group, ratios)
    assert header == ("pipeline", "base", "other")
    assert lines[0] == ("a", "1.000", "4.000")
    assert lines[-2:] == [("geometric mean", "1.000", "4.000"), ("of the 2 whole ones", "1.000", "2.000")]
    without = {agent: {p: found[p] for p in ("a", "b")} for agent, found in ratios.items()}
    header, lines = ratio_table(Group("none", False, "base", ("a",), {}, {}), without)
    assert (header, lines[1]) == (("agent", "a", "geometric mean"), ("other", "4.000", "2.000"))
