"""Tables on the standard output."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
from rich.console import Console

from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console

NAME = "Monte Carlo tree search after a beam"


def table() -> Table:
    result = Table(*name_columns("Agent"), *number_columns(*(f"Pipeline {index}" for index in range(4))))
    result.add_row(NAME, *["123,456.789"] * 4)
    return result


def test_what_the_encoding_lacks_is_a_question_mark() -> None:
    command = "from halidegym.evaluation.output.console import output_console; output_console().print('1 ± 2 ms')"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    finished = subprocess.run([sys.executable, "-c", command], capture_output=True, env=environment, check=False)
    assert (finished.stdout, finished.stderr) == (b"1 ? 2 ms\n", b"")


def test_lines_are_whole_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    output_console().print(table())
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "Monte" in line]
    assert NAME in row
    assert row.count("123,456.789") == 4


def test_names_are_whole_and_numbers_complete_in_a_terminal_of_80_columns() -> None:
    output = io.StringIO()
    Console(file=output, force_terminal=True, width=80, color_system=None).print(table())
    assert NAME in output.getvalue()
    assert "".join(sorted(filter(str.isdigit, output.getvalue()))) == "".join(sorted("0123" + "123456789" * 4))


def test_names_leave_room_for_numbers() -> None:
    long_names = Table(*name_columns("Run", "Agent"), *number_columns("Speed", "95 %", "Pipelines"))
    long_names.add_row("results", "a" * 80, "1.234", "1.101 to 1.344", "12")
    output = io.StringIO()
    Console(file=output, force_terminal=True, width=80, color_system=None).print(long_names)
    assert all(number in output.getvalue() for number in ("1.234", "1.101 to 1.344", "12"))
    assert "".join(filter(str.isalpha, output.getvalue())).count("a") >= 80


def test_short_names_and_many_numbers_share_a_narrow_terminal() -> None:
    narrow = Table(*name_columns("Agent"), *number_columns("A", "B", "C", "D", "E"))
    narrow.add_row("b" * 20, *["1.5"] * 5)
    output = io.StringIO()
    Console(file=output, force_terminal=True, width=40, color_system=None).print(narrow)
    assert output.getvalue().count("1.5") == 5
