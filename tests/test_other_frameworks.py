"""The snippets of docs/how-to/other-frameworks.md run as printed, where the frameworks are installed."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "other-frameworks.md").read_text()
#: What the snippets import, themselves or through the frameworks: ray comes without what its RLlib needs.
LIBRARIES = {
    "TorchRL": ("torchrl", "tensordict"),
    "RLlib": ("ray", "tree", "lz4", "ormsgpack", "tensorboardX"),
    "PufferLib": ("pufferlib", "gym", "psutil"),
}


@pytest.mark.parametrize("heading", LIBRARIES)
def test_snippet(heading: str, tmp_path: Path) -> None:
    missing = [name for name in LIBRARIES[heading] if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")
    section = PAGE[PAGE.index(f"## {heading}\n") :]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None
    script = tmp_path / "snippet.py"
    script.write_text(found[1])
    alone = os.environ | {"RAY_ADDRESS": "local"}  # not in a cluster that happens to run here
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, env=alone)
    assert run.returncode == 0, run.stderr
