"""Tables in pages are those of their CSV files; so are those of the documentation."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from disks_for_tests import full_disk
from halidegym.envs.pipelines import toys
from halidegym.evaluation.cli import main
from halidegym.evaluation.output.pages import marked_table, table_files, with_tables, write_table
from halidegym.native._core import FormatError

ROOT = Path(__file__).parents[3]
PAGE = f"# Results\n\n{marked_table('values.csv')}\nNothing else.\n"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    write_table(tmp_path / "values.csv", ("name", "value, ms", "note"), [("a|b", "1.5 ± 2 %", ""), ("c\nd", "-", "!")])
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_a_table_is_made_from_its_file(page: Path) -> None:
    made = with_tables(PAGE, page.parent)
    table = "| name | value, ms | note |\n|---|---:|---|\n| a/b | 1.5 ± 2 % |  |\n| c d | - | ! |\n"
    assert made == PAGE.replace("<!-- end -->", f"{table}<!-- end -->")
    assert with_tables(made, page.parent) == made
    assert table_files(page) == [page.parent / "values.csv"]


def test_pages_are_made_and_checked(page: Path) -> None:
    def tables(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["tables", *arguments])
        return result.exit_code, result.output

    assert tables("--check", str(page)) == (1, f"{page} is not as its files say\n")
    assert page.read_text() == PAGE
    assert tables(str(page.parent)) == (0, f"{page} was made anew\n")
    assert tables("--check", str(page)) == (0, "")
    page.write_text(page.read_text().replace("1.5", "1.6"))
    assert tables("--check", str(page))[0] == 1


@pytest.mark.parametrize("content", ["", "a,b\n1\n"])
def test_a_file_that_is_no_table_is_refused(page: Path, content: str) -> None:
    (page.parent / "values.csv").write_text(content)
    with pytest.raises(FormatError, match=r"values\.csv is no table"):
        with_tables(PAGE, page.parent)


def test_a_table_without_an_end_is_refused_and_what_follows_stays(page: Path) -> None:
    text = f"<!-- table: other.csv (halidegym tables) -->\n| a |\n\nProse.\n\n{PAGE}"
    page.write_text(text)
    result = CliRunner().invoke(main, ["tables", str(page)])
    assert (result.exit_code, page.read_text()) == (2, text)
    assert "page.md: The table of other.csv has no end; put <!-- end --> below it" in result.output.replace("\n", " ")


def test_a_table_may_end_its_page(page: Path) -> None:
    assert with_tables(PAGE[: PAGE.index("\nNothing")].rstrip(), page.parent).endswith("| c d | - | ! |\n<!-- end -->")


def test_a_table_of_a_spreadsheet_has_no_mark_before_its_first_name(page: Path) -> None:
    (page.parent / "values.csv").write_text("a,b\n1,x\n", encoding="utf-8-sig")
    assert "| a | b |\n|---:|---|\n| 1 | x |\n" in with_tables(PAGE, page.parent)


def test_a_table_without_lines_has_its_columns(page: Path) -> None:
    (page.parent / "values.csv").write_text("a,b\n")
    assert "| a | b |\n|---:|---:|\n<!-- end -->" in with_tables(PAGE, page.parent)


@pytest.mark.parametrize("name", ["page.md", "values.csv"])
def test_a_file_that_is_no_text_is_refused_by_name(name: str, page: Path) -> None:
    (page.parent / name).write_bytes(b"\xff\xfe")
    result = CliRunner().invoke(main, ["tables", str(page)])
    assert (result.exit_code, f"{name} is no text in UTF-8" in result.output.replace("\n", "")) == (2, True)


def test_a_full_disk_costs_neither_a_page_nor_a_table(page: Path) -> None:
    table = page.parent / "values.csv"
    before = table.read_bytes()
    with full_disk():
        result = CliRunner().invoke(main, ["tables", str(page)])
        with pytest.raises(OSError, match=r"values\.csv"):
            write_table(table, ("name", "value"), [("longer than before", "3")] * 100)
    assert result.exit_code == 2 and "page.md" in result.output
    assert (page.read_text(), table.read_bytes()) == (PAGE, before)


def test_the_documentation_is_as_its_files_say() -> None:
    """If not: `halidegym tables docs`."""
    result = CliRunner().invoke(main, ["tables", "--check", str(ROOT / "docs")])
    assert result.exit_code == 0, result.output


def test_every_file_of_results_is_shown() -> None:
    shown = [file.resolve() for path in (ROOT / "docs").rglob("*.md") for file in table_files(path)]
    assert sorted(shown) == sorted((ROOT / "docs").rglob("*.csv"))


def test_the_optima_shown_are_those_recorded() -> None:
    with (ROOT / "docs" / "results" / "optima.csv").open(newline="") as file:
        shown = {row["pipeline"].strip("`"): (row["schedules"], row["optimal cost"]) for row in csv.DictReader(file)}
    recorded = toys.read_optima().items()
    assert shown == {name: (f"{optimum.num_schedules:,}", repr(optimum.cost)) for name, optimum in recorded}
