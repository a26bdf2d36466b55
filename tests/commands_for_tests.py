"""What a test makes of the commands of the manual: tests/docs/commands.yaml names each that is not run as printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from halidegym.evaluation.benchmark.suite import SUITES
from pages_for_tests import ROOT

Table = Mapping[str, Mapping[str, Mapping[str, Any]]]


@cache
def table() -> Table:
    """By kind, page and command."""
    found: Table = yaml.safe_load((ROOT / "tests" / "docs" / "commands.yaml").read_text(encoding="utf-8"))
    return found


def is_as_printed(page: str, command: str) -> bool:
    """Whether a command is run without any change."""
    return all(command not in pages.get(page, {}) for pages in table().values())


def shell_lines(page: str, command: str) -> str:
    """Bash that runs a command of a page as the table says."""
    if command in table()["not run"].get(page, {}):
        return ""
    for old, new in table()["smaller"].get(page, {}).get(command, {}).items():
        command = _with_value(command, old, new) if old.startswith("--") else _with_argument(command, old, new)
    if command in table()["refused"].get(page, {}):
        return f"status=0; {command} || status=$?; [ $status = 2 ]\n"
    return f"{command}\n"


def _with_value(command: str, option: str, value: object) -> str:
    """A command with another value of an option, which may be a new one."""
    found, times = re.subn(rf"(?<= {option} )\S+", str(value), command)
    return found if times else f"{command} {option} {value}"


def _with_argument(command: str, old: str, new: object) -> str:
    """A command with other arguments, or none, in the place of an argument."""
    found, times = re.subn(rf"(?<= ){re.escape(old)}(?!\S)", str(new or ""), command)
    assert times, f"{old!r} is not in {command!r}"
    return found


def write_small_suites(folder: Path) -> None:
    """Write the shipped suites, each for one tiny problem, with one seed and next to no budget."""
    for file in SUITES.glob("*.yaml"):
        suite = yaml.safe_load(file.read_text(encoding="utf-8"))
        first = suite["pipelines"][0]
        problem = re.sub(r"\d+", "16", first, count=1) if first.startswith("transform/") else "toy_blur"
        small = _with_small_budgets(suite) | {"pipelines": [problem], "seeds": [0]}
        if "measurement" in small:
            small["measurement"] = {"rounds": 6, "sample_seconds": 0.05}
        (folder / file.name).write_text(yaml.safe_dump(small, sort_keys=False), encoding="utf-8")


def _with_small_budgets(settings: dict[str, Any]) -> dict[str, Any]:
    small = dict(settings)
    if "budgets" in settings:
        budgets = (
            {kind: min(amount, {"seconds": 3, "evaluations": 50}.get(kind, 1)) for kind, amount in budget.items()}
            for budget in settings["budgets"]
        )
        small["budgets"] = list({str(budget): budget for budget in budgets}.values())  # a suite has none twice
    for name, agent in settings.get("agents", {}).items():
        small["agents"] = small["agents"] | {name: _with_small_budgets(agent) if isinstance(agent, dict) else agent}
    return small
