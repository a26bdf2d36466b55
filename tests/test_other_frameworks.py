"""The snippets of docs/how-to/other-frameworks.md run as printed, where the frameworks are installed."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "other-frameworks.md").read_text()
LIBRARIES = {"TorchRL": "torchrl", "RLlib": "ray"}


@pytest.mark.parametrize("heading", LIBRARIES)
def test_snippet(heading: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(LIBRARIES[heading]) is None:
        pytest.skip(f"{LIBRARIES[heading]} is not installed")
    section = PAGE[PAGE.index(f"## {heading}\n") :]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None
    script = tmp_path / "snippet.py"
    script.write_text(found[1])
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
