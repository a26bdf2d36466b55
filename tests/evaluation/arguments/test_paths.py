"""Files that commands write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from halidegym.evaluation.arguments.paths import OutputFile, WritingCommand
from halidegym.evaluation.cli import main

BLUR = """
import halide as hl

def build():
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    f.set_estimates([(0, 64)])
    return f
"""


def halidegym(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "blur.py").write_text(BLUR)
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(group: click.Group) -> Iterator[click.Command]:
    for command in group.commands.values():
        yield from commands(command) if isinstance(command, click.Group) else (command,)


def test_every_command_that_writes_a_file_looks_at_the_others() -> None:
    writing = [c for c in commands(main) if any(isinstance(param.type, OutputFile) for param in c.params)]
    assert len(writing) > 10
    assert [command.name for command in writing if not isinstance(command, WritingCommand)] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["blur.py:build", "-o", "blur.py"], "-o and PIPELINE are one file, blur.py; give another one."),
        (["blur.py:build", "-o", "inner/../blur.py"], "-o and PIPELINE are one file"),
        (["blur:build", "-o", "blur.py"], "-o and PIPELINE are one file"),
        (["blur.py:build", "--save", "blur.py"], "--save and PIPELINE are one file"),
        (["harris", "--manual", "blur.py:build", "-o", "blur.py"], "-o and --manual are one file"),
        (["harris", "-o", "new.h", "--save", "new.h"], "-o and --save are one file, new.h"),
        (["harris", "--database", "new.db", "--save", "new.db"], "--database and --save are one file"),
    ],
)
def test_no_file_is_written_over_one_that_is_read(folder: Path, arguments: list[str], said: str) -> None:
    result = halidegym("schedule", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert (folder / "blur.py").read_text() == BLUR


def test_a_page_is_not_written_over_its_plan(folder: Path) -> None:
    assert halidegym("schedule", "blur.py:build", "--agent", "greedy", "--save", "plan.json").exit_code == 0
    plan = (folder / "plan.json").read_text()
    result = halidegym("explore", "plan.json", "--pipeline", "blur.py:build", "-o", "plan.json")
    assert result.exit_code == 2
    assert "-o and PLAN are one file, plan.json" in result.stderr
    assert (folder / "plan.json").read_text() == plan


def test_a_pipeline_may_be_called_as_the_file_to_write(folder: Path) -> None:
    """A registered pipeline may share its name with a file to be."""
    assert halidegym("schedule", "toy_blur", "--agent", "greedy", "--save", "toy_blur").exit_code == 0


@pytest.mark.parametrize("name", ["halide.py", "halidegym.py"])
def test_no_module_hides_the_packages_that_it_imports(folder: Path, name: str) -> None:
    result = halidegym("schedule", "blur.py:build", "--agent", "greedy", "-o", name)
    assert result.exit_code == 2
    assert f"{name!r} would hide the package of this name" in result.stderr
    assert not (folder / name).exists()


def test_links_in_a_circle_are_told_before_the_search(folder: Path) -> None:
    (folder / "one.h").symlink_to("other.h")
    (folder / "other.h").symlink_to("one.h")
    result = halidegym("schedule", "toy_blur", "--agent", "greedy", "-o", "one.h")
    assert (result.exit_code, result.stderr) == (2, "Error: one.h: Too many levels of symbolic links\n")
