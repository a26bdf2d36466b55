"""What the commands of docs/how-to/bring-your-own-pipeline.md print is as its page says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import halide as hl
import numpy as np
import pytest

from halidegym import SchedulingProblem

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "bring-your-own-pipeline.md").read_text()


def fenced(language: str, heading: str) -> str:
    """The first code block of a language under a heading."""
    section = PAGE[PAGE.index(f"## {heading}\n") :]
    found = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found.group(1)


def commands(beginning: str) -> list[str]:
    """The indented blocks that begin with a text, their lines joined."""
    blocks = re.findall(r"(?:^    .*\n)+", PAGE, re.MULTILINE)
    return [text for text in map(textwrap.dedent, blocks) if text.startswith(beginning)]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """In a shell, with `halidegym` and `python` those of this environment."""
    prefix = (
        f"halidegym() {{ {shlex.quote(sys.executable)} -c 'from halidegym.evaluation.cli import main; main()' \"$@\"; }}\n"
        f'python() {{ {shlex.quote(sys.executable)} "$@"; }}\n'
    )
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)])}
    return subprocess.run(
        ["bash", "-e", "-c", prefix + command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_blur.py").write_text(fenced("python", "The pipeline"))
    return tmp_path


def test_the_error_is_the_printed_one(folder: Path) -> None:
    (command,) = commands("halidegym schedule my_blur.py:build\n")
    result = run(command, folder)
    assert result.returncode == 2
    assert result.stderr.strip() in PAGE


def test_the_source_is_a_function(folder: Path) -> None:
    _, command = commands("halidegym schedule my_blur.py:build --estimate blurred")
    result = run(command.rstrip() + " --agent greedy", folder)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(fenced("cpp", "In your program"))


def test_options_and_parity(folder: Path) -> None:
    for beginning in ("halidegym schedule harris", "halidegym parity"):
        (command,) = commands(beginning)
        result = run(command, folder)
        assert result.returncode == 0, result.stderr


def test_what_is_missing_is_proposed(folder: Path) -> None:
    command, *_ = commands("halidegym schedule my_blur.py:build --estimate-from")
    result = run(command.rstrip() + " --agent greedy", folder)
    assert result.returncode == 0, result.stderr
    (proposed,) = commands("Proposed: ")
    assert proposed.strip() in result.stderr


def test_schedules_are_written_for_generators(folder: Path) -> None:
    *_, command = commands("halidegym schedule my_blur.py:build --estimate-from")
    result = run(command.rstrip() + " --agent greedy", folder)
    assert result.returncode == 0, result.stderr
    header = (folder / "my_blur.schedule.h").read_text()
    assert [name in header for name in ("schedule_build(", "schedule_build_2(", "schedule_build_3(")] == [True] * 3


def test_a_copied_table_outlives_the_function() -> None:
    def build() -> hl.Func:
        x, found = hl.Var("x"), hl.Func("found")
        found[x] = hl.Buffer(np.arange(256, dtype=np.float32)).copy()[x]
        found.set_estimates([(0, 256)])
        return found

    assert "`hl.Buffer(array).copy()`" in PAGE
    first = SchedulingProblem.from_pipeline(build)
    held = [np.full(256, 7, np.float32) for _ in range(20)]  # where freed arrays have lain
    assert SchedulingProblem.from_pipeline(build).algorithm == first.algorithm
    assert len(held) == 20
