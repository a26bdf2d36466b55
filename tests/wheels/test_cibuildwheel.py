"""The configuration of cibuildwheel is one that it reads, and means the Pythons that the package declares."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import yaml

from pages_for_tests import ROOT


def test_wheels_are_built_for_the_declared_pythons() -> None:
    pytest.importorskip("cibuildwheel", reason="cibuildwheel is not installed (pip install halidegym[dev])")
    command = [sys.executable, "-m", "cibuildwheel", "--platform", "linux", "--print-build-identifiers", str(ROOT)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    declared = re.findall(r"Programming Language :: Python :: 3\.(\d+)", (ROOT / "pyproject.toml").read_text())
    assert len(declared) > 1
    assert printed.split() == [f"cp3{minor}-manylinux_x86_64" for minor in declared]


def test_the_workflow_builds_tests_and_publishes() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text())["jobs"]
    steps = {name: [step.get("uses", "").partition("@")[0] for step in job["steps"]] for name, job in jobs.items()}
    assert "pypa/cibuildwheel" in steps["wheels"]
    assert "pypa/gh-action-pypi-publish" in steps["publish"]
    assert jobs["publish"]["needs"] == ["wheels", "sdist"]
    tested = "tests/wheels/try_wheel.py"
    assert tested in (ROOT / "pyproject.toml").read_text().partition("[tool.cibuildwheel]")[2]
    assert any(tested in step.get("run", "") for step in jobs["sdist"]["steps"])
