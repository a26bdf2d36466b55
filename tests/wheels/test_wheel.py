"""A wheel that is built here installs into a fresh virtual environment, with what it declares, and works there."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, **environment: str) -> str:
    """Run a command outside of the repository and of this environment; return what it prints."""
    outer = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    finished = subprocess.run(
        command,
        cwd="/",
        env=outer | environment,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert finished.returncode == 0, finished.stdout
    return finished.stdout


COSTS = """
from halidegym.agents import BeamSearch
from halidegym.envs.sources import load_problem

for name in ("harris", "bilateral_grid", "random-test-v1/1"):
    problem = load_problem(name, target="x86-64-linux-avx-avx2-f16c-fma-sse41", parallelism=16)
    print(name, *(repr(cost) for cost in BeamSearch(beam_size=8, passes=2).plan(problem).pass_costs))
"""


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["0", "1"])
def test_wheel(tmp_path: Path, profile: str) -> None:
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "-w",
        tmp_path / "dist",
        ROOT,
        HALIDEGYM_PROFILE=profile,
        SKBUILD_BUILD_DIR=str(tmp_path / "build"),
    )
    counted = [path.name for path in (tmp_path / "build").glob("counts/**/*.gcda")]
    assert ("unity_searches_cxx.cxx.gcda" in counted) == (profile == "1")
    (wheel,) = (tmp_path / "dist").glob("halidegym-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert [
        name for name in names if name.endswith((".cpp", ".h", ".cmake", ".pyc")) or name.startswith("tests/")
    ] == []
    assert {"halidegym/py.typed", "halidegym/native/_core.pyi", "halidegym/native/halidegym_runner"} <= set(names)

    venv.create(tmp_path / "fresh", with_pip=True)
    python = tmp_path / "fresh" / "bin" / "python"
    run(python, "-m", "pip", "install", wheel)
    output = run(python, ROOT / "tests" / "wheels" / "try_wheel.py", XDG_CACHE_HOME=str(tmp_path))
    assert output.startswith("halidegym ")
    assert run(python, "-c", COSTS) == run(sys.executable, "-c", COSTS)  # to the last bit, however it is compiled
