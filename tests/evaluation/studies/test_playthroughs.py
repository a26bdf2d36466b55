"""Golden playthroughs: episodes are as they were written down."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from halidegym.evaluation.cli import main
from halidegym.evaluation.studies.playthroughs import PLAYTHROUGHS, playthrough

FOLDER = Path(__file__).parents[2] / "playthroughs"


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_it_is_as_written_down(name: str) -> None:
    """If the change is meant, `make playthroughs` writes them anew."""
    assert playthrough(name).splitlines() == (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def test_no_other_is_written_down() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(PLAYTHROUGHS)


def test_the_command_writes_them(tmp_path: Path) -> None:
    assert CliRunner().invoke(main, ["playthroughs", "toy_pointwise", "--output", str(tmp_path)]).exit_code == 0
    (path,) = tmp_path.iterdir()
    assert path.read_bytes() == (FOLDER / "toy_pointwise.txt").read_bytes()
    assert CliRunner().invoke(main, ["playthroughs", "toy_pointwise"]).stdout == path.read_text() + "\n"
