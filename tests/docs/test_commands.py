"""Every call of `halidegym` in the manual is one that the command line takes: names, options, their types and numbers."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from halidegym.evaluation.cli import main
from pages_for_tests import PAGES, halidegym_commands, name_of

CALLS = {name_of(page): halidegym_commands(page.read_text(encoding="utf-8")) for page in PAGES}
CALLING = [page for page, calls in CALLS.items() if calls]


def check(arguments: list[str]) -> None:
    """Parse a call without running it."""
    command: click.Command = main
    names = ["halidegym"]
    while isinstance(command, click.Group) and len(names) <= len(arguments) and arguments[len(names) - 1][0] != "-":
        name = arguments[len(names) - 1]
        found = command.get_command(click.Context(command), name)
        if found is None:
            raise click.NoSuchOption(name)
        command = found
        names.append(name)
    command.make_context(" ".join(names), list(arguments[len(names) - 1 :]))


def make_folders(call: list[str]) -> None:
    """Make the folders of the files that a call names."""
    for argument in call:
        if "/" in argument and not Path(argument).is_absolute():
            Path(argument).parent.mkdir(parents=True, exist_ok=True)


def test_calls_are_found() -> None:
    assert sum(map(len, CALLS.values())) > 60
    assert len(CALLING) > 15


@pytest.mark.parametrize("page", CALLING)
def test_calls(page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(click.Path, "convert", lambda _type, value, _param, _ctx: Path(value))  # files are not here
    for call in CALLS[page]:
        make_folders(call)
        try:
            check(call)
        except click.UsageError as error:
            pytest.fail(f"halidegym {' '.join(call)}: {error.format_message()}")


@pytest.mark.parametrize(
    "call", [["shedule"], ["schedule", "harris", "--beem", "3"], ["reproduce", "learned", "--seeds", "x"]]
)
def test_wrong_calls_are_found(call: list[str]) -> None:
    with pytest.raises(click.UsageError):
        check(call)
