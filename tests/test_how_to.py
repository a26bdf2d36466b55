"""The commands and snippets of docs/how-to/bring-your-own-pipeline.md work as they are printed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

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


@pytest.mark.slow
def test_the_schedule_is_found_and_timed(folder: Path) -> None:
    search, _ = commands("halidegym schedule my_blur.py:build --estimate blurred")
    found = run(search, folder)
    assert found.returncode == 0, found.stderr
    assert "rows\n    .store_in(" in found.stdout
    (timing,) = commands("halidegym time ")
    timed = run(timing.replace("\n", " ").replace("\\", "") + " --rounds 2", folder)
    assert timed.returncode == 0, timed.stderr
    assert "ok" in timed.stdout


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


@pytest.mark.slow
def test_it_is_timed_beside_others(folder: Path) -> None:
    (folder / "my_blur_by_hand.py").write_text(fenced("python", "On the command line"))
    _, command, _ = commands("halidegym schedule my_blur.py:build --estimate-from")
    result = run(command.replace("--seconds 60", "--seconds 10"), folder)
    assert result.returncode == 0, result.stderr
    assert all(name in result.stderr for name in ("adams2019", "mullapudi2016", "by_hand", "this one"))


@pytest.mark.slow
def test_the_ten_lines_of_python(folder: Path) -> None:
    result = run(f"python -c {shlex.quote(fenced('python', 'In Python'))}", folder)
    assert result.returncode == 0, result.stderr
    assert "get_func(" in result.stdout
    assert all(float(number) > 0 for number in result.stdout.splitlines()[-1].split())


@pytest.mark.slow
def test_a_generator_in_cpp(folder: Path) -> None:
    (folder / "my_blur_generator.cpp").write_text(fenced("cpp", "A Halide generator"))
    (build,) = commands("HALIDE=")
    built = run(build, folder)
    assert built.returncode == 0, built.stderr
    (search,) = commands("halidegym schedule my_blur.hlpipe")
    found = run(search, folder)
    assert found.returncode == 0, found.stderr
    assert found.stderr.startswith("my_blur: cost ")
    assert "rows\n    .store_in(" in found.stdout
