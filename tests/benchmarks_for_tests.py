"""A small suite, and its runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner, Result

from halidegym.evaluation.cli import main

SUITE: Mapping[str, Any] = {
    "title": "Toys",
    "target": "x86-64-linux-sse41",
    "parallelism": 4,
    "pipelines": ["toy_blur", "toy_scan"],
    "baseline": "beam",
    "seeds": [0],
    "budgets": [{"evaluations": 50}, {"baseline_seconds": 1}],
    "agents": {
        "beam": {"agent": "BeamSearch", "parameters": {"beam_size": 2}, "deterministic": True, "budgets": []},
        "random": "RandomSearch",
    },
}


def halidegym(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def write_suite(folder: Path, **changes: Any) -> Path:
    """The suite with other settings; None leaves one out."""
    path = folder / "toys.yaml"
    settings = {name: value for name, value in {**SUITE, **changes}.items() if value is not None}
    path.write_text(yaml.safe_dump(settings))
    return path


def run_suite(folder: Path, **changes: Any) -> Path:
    """The folder of a run of the suite."""
    result = halidegym("bench", write_suite(folder, **changes), "--output", folder / "run")
    assert result.exit_code == 0, result.output
    return folder / "run"


def cell_files(run: Path) -> dict[str, dict[str, Any]]:
    """The files of the cells by their names."""
    return {path.name: json.loads(path.read_text()) for path in sorted((run / "cells").glob("*.json"))}
