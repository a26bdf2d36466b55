"""No command of the manual escapes: each stands where it is run, and `commands.yaml` names none that stands nowhere."""

from __future__ import annotations

import re

import pytest

from commands_for_tests import shell_lines, table
from pages_for_tests import PAGES, blocks, commands, name_of, source_of

COMMANDS = {
    name_of(page): [
        each.text for block in blocks(source_of(page)) if block.language == "console" for each in commands(block)
    ]
    for page in PAGES
}
CODE = re.compile(r"^```.*?^```|(?<=\n\n)(?:^    [^\n]*\n)+", re.MULTILINE | re.DOTALL)
BEGINNING = re.compile(r"^ *(?:\$ )?((?:halidegym|make) [a-z][^\n#\\]*)", re.MULTILINE)


@pytest.mark.parametrize("kind", table())
def test_the_table_names_commands_of_the_pages(kind: str) -> None:
    named = [(page, command) for page, entries in table()[kind].items() for command in entries]
    assert [(page, command) for page, command in named if command not in COMMANDS.get(page, [])] == []


def test_the_table_says_one_thing_of_a_command() -> None:
    named = [(page, command) for entries in table().values() for page in entries for command in entries[page]]
    assert len(named) == len(set(named))


def test_what_is_not_run_has_a_reason() -> None:
    reasons = [reason for entries in table()["not run"].values() for reason in entries.values()]
    assert all(isinstance(reason, str) and len(reason.split()) > 3 for reason in reasons)


def test_every_change_fits_its_command() -> None:
    for page, entries in table()["smaller"].items():
        for command, changes in entries.items():
            assert changes, command
            shell_lines(page, command)  # raises if an argument to be replaced is not there


def test_all_commands_in_code_are_found() -> None:
    written = [
        " ".join(line.split())
        for page in PAGES
        for code in CODE.findall(source_of(page))
        for line in BEGINNING.findall(code)
    ]
    found = [command for page in COMMANDS.values() for command in page]
    assert len(written) > 100
    assert [line for line in written if not any(command.startswith(line) for command in found)] == []


def test_amounts_are_set_and_arguments_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = {"halidegym x a b --seconds 60 -o c": {"--seconds": 2, "a": None, "b": "d e", "--runs": 1}}
    monkeypatch.setattr("commands_for_tests.table", lambda: {"smaller": {"p": changes}, "refused": {}, "not run": {}})
    assert " ".join(shell_lines("p", *changes).split()) == "halidegym x d e --seconds 2 -o c --runs 1"
    assert shell_lines("p", "halidegym other") == "halidegym other\n"


def test_what_is_refused_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "commands_for_tests.table", lambda: {"smaller": {}, "refused": {"p": {"halidegym x": "why"}}, "not run": {}}
    )
    assert "[ $status = 2 ]" in shell_lines("p", "halidegym x")
