"""The suite, its command and the Python of docs/how-to/scale-out.md work as they are printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pages_for_tests import ROOT, blocks, halidegym_commands

PAGE = (ROOT / "docs" / "how-to" / "scale-out.md").read_text(encoding="utf-8")
COMMAND = "from halidegym.evaluation.cli import main; main()"


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Python on a cluster of this machine alone."""
    pytest.importorskip("ray", reason="it comes with the extra ray")
    environment = os.environ | {"RAY_ADDRESS": "local", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_suite(tmp_path: Path) -> None:
    (suite,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "toys.yaml").write_text(suite)
    (command,) = (call for call in halidegym_commands(PAGE) if "toys.yaml" in call and "bench" in call)
    ended = run("-c", COMMAND, *command, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.splitlines()[-1] in map(str.strip, PAGE.splitlines())


@pytest.mark.slow
def test_the_trees(tmp_path: Path) -> None:
    (block,) = blocks(PAGE)
    (tmp_path / "trees.py").write_text(block.text)
    ended = run("trees.py", folder=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, block.output), ended.stderr
