"""The agent, the suite and the commands of docs/how-to/your-own-agent.md work.

Here with one seed and budget and no measurements; tests/docs/test_pages.py runs the page as it is printed.
"""

from __future__ import annotations

import csv
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from halidegym.envs.processes.python import python_path
from halidegym.evaluation.benchmark.suite import Suite
from halidegym.training.settings import parse_settings

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "your-own-agent.md").read_text()


def fenced(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def run(folder: Path, *commands: str) -> str:
    """What commands print, with `halidegym` that of this environment."""
    command = f"{shlex.quote(sys.executable)} -c 'from halidegym.evaluation.cli import main; main()'"
    environment = dict(os.environ) | python_path()
    script = "\n".join([f'halidegym() {{ {command} "$@"; }}', *commands])
    result = subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_agent.py").write_text(fenced("python"))
    less = {"seeds": [0], "budgets": [{"evaluations": 200}], "measurement": None}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(yaml.safe_load(fenced("yaml")) | less))
    return tmp_path


def test_it_has_thirty_lines() -> None:
    assert len(list(filter(str.strip, fenced("python").splitlines()))) <= 30


def test_the_agent_comes_into_the_tables(folder: Path) -> None:
    commands = re.findall(r"^    (halidegym .*(?:small|children\.zip).*)$", PAGE, re.MULTILINE)
    assert len(commands) == 4
    printed = run(folder, *commands)
    assert "0 failed, 0 false" in printed
    assert re.search(r"few-children +│ four children +│ 200 evaluations", printed)
    with (folder / "runs/small/report/tables/1-cost-summary.csv").open(newline="") as file:
        summary = {row["agent"]: row for row in csv.DictReader(file)}
    assert set(summary) == {"beam", "random", "four children", "twelve children"}
    assert all(0 < float(row["mean"]) < 2 and row["pipelines"] == "2 of 2" for row in summary.values())
    assert "twelve children" in (folder / "runs/small/report/report.html").read_text()


def test_it_may_be_added_on_the_command_line(folder: Path) -> None:
    suite = parse_settings(Suite, yaml.safe_load(fenced("yaml")), "small.yaml")
    agents = {name: suite.agents[name].model_dump(exclude_unset=True) for name in ("beam", "random")}
    changes = {"agents": agents, "budgets": [{"evaluations": 20}], "pipelines": ["toy_blur"]}
    small = yaml.safe_load((folder / "small.yaml").read_text())
    (folder / "small.yaml").write_text(yaml.safe_dump(small | changes))
    run(folder, "halidegym bench small.yaml --output run --agent few=my_agent.py:FewChildren")
    assert {path.name[:13] for path in (folder / "run" / "cells").iterdir()} >= {"toy_blur-few-"}
