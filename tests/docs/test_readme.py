"""What the README says of results and of the project's metadata is what stands elsewhere."""

from __future__ import annotations

import csv
import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import halidegym
from pages_for_tests import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")

#: Rows of the README's table, by those of the table of results that they are taken from.
ROWS = {
    "beam 32 x 5, equal to Adams2019's": "beam 32 x 5",
    "greedy search": "greedy",
    "one draw of the policy, which reads all children": "policy, full, argmax",
    "the best of 64 that read none, at two temperatures": "policy, blind, half at 0.4, best of 64",
    "the best of 64, three in four with a shortlist of 12": "policy, shortlist 12 in three of four, best of 64",
    "tree search (`mcts_replay`), 2,000 evaluations": "mcts_replay, 2,000 evaluations",
    "the same, guided by the policy": "guided mcts, 2,000 evaluations",
    "guided replay, 64 schedules": "guided replay, 64 schedules",
    "guided replay, 256 evaluations": "guided replay, 256 evaluations",
    "guided replay, 2,000 evaluations": "guided replay, 2,000 evaluations",
    "guided replay, shortlist 16, 256 schedules": "guided replay, shortlist 16, 256 schedules",
    "tree search (`mcts_replay`), the beam's seconds": "mcts_replay, beam's seconds",
    "guided replay, the beam's seconds": "guided replay, beam's seconds",
    "guided replay, shortlist 16, the beam's seconds": "guided replay, shortlist 16, beam's seconds",
}


@pytest.mark.parametrize(("row", "agent"), ROWS.items())
def test_results_are_those_of_the_reproduction(row: str, agent: str) -> None:
    with (ROOT / "docs" / "results" / "learned.csv").open(encoding="utf-8", newline="") as file:
        (result,) = [line for line in csv.DictReader(file) if line["agent"] == agent]
    cells = [result[column] for column in ("of beam", "of beam's, median", "seconds of beam's")]
    assert f"| {row} | {' | '.join(cells)} |" in README


def test_results_at_equal_time_are_those_of_the_reproduction() -> None:
    with (ROOT / "docs" / "results" / "equal-time.csv").open(encoding="utf-8", newline="") as file:
        (means,) = [line for line in csv.DictReader(file) if line["pipeline"] == "geometric mean"]
    assert f"(`mcts_beam`), the beam's seconds | {means['mcts_beam']} |" in README
    assert f"(MCTS 15 + 1), the beam's seconds | {means['mcts 15+1']} |" in README


def results(file: str) -> list[dict[str, str]]:
    with (ROOT / "docs" / "results" / file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def median(file: str, pipeline: str, quantity: str) -> str:
    """What `halidegym speed` measured."""
    (row,) = [row for row in results(file) if (row["pipeline"], row["quantity"]) == (pipeline, quantity)]
    return row["median"]


def test_throughput_is_that_of_the_measurements() -> None:
    section = README.partition("\n## Throughput\n")[2].partition("\n## ")[0]
    figures = [line.removesuffix(" |").rpartition("| ")[2] for line in section.splitlines() if line.startswith("| ")][
        1:
    ]
    beams, of_wheel = (results(file)[-1]["CPU time, plugin / ours"] for file in ("speed.csv", "speed-wheel.csv"))
    memory = sorted((row["peak memory, plugin / ours"] for row in results("speed-wheel.csv")[:-1]), key=float)
    environments, growth = "speed-environments.csv", "speed-growth.csv"
    of_vector = "gym.make_vec of 256, copy=False, resets in the next step / CartPole-v1"
    assert figures == [
        f"{beams} times as fast",
        f"{of_wheel} times as fast",
        f"1 / {memory[-1]} to 1 / {memory[0]}",
        f"{median(environments, 'harris', 'gym.make / CartPole-v1')} times as many a second",
        f"{median(environments, 'toy_blur', 'gym.make / CartPole-v1')} times as many",
        f"{median(environments, 'toy_stencils', of_vector)} times as many",
        f"{median(environments, 'harris', 'gym.make_vec of 16 / SyncVectorEnv of 16')} times as many",
        f"{median(growth, 'local_laplacian', 'time per evaluation / that of the first')} times as long",
    ]
    assert f"takes {median(growth, 'harris', 'us per evaluation, 13 Funcs')} us" in section


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    metadata = importlib.metadata.metadata("halidegym")
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(citation)
    assert str(citation["version"]) == halidegym.__version__
    assert citation["license"] == metadata["License-Expression"]
    assert re.search(rf"version = {{{{?{re.escape(halidegym.__version__)}}}?}}", README)
    assert citation["title"] in README


def test_the_changelog_has_this_version() -> None:
    assert f"\n## {halidegym.__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_its_python_is_of_sound_types_in_a_strict_project(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "readme.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL)))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "readme.py"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
