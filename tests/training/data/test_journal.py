"""Journals, and what a kill leaves of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from halidegym.native._core import FormatError
from halidegym.training.data.journal import Journal


def test_entries_come_back_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    journal = Journal(path)
    assert journal.entries == []
    for entry in (b"one", b"", b"three"):
        journal.append(entry)
    assert Journal(path).entries == [b"one", b"", b"three"]
    journal.remove()
    journal.remove()
    assert not path.exists()


@pytest.mark.parametrize("lost", [1, 3, 10, 44])
def test_an_entry_that_is_cut_short_is_dropped_and_can_be_written_again(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "a.journal"
    journal = Journal(path)
    journal.append(b"one")
    journal.append(b"seven")
    path.write_bytes(path.read_bytes()[:-lost])
    again = Journal(path)
    assert again.entries == [b"one"]
    again.append(b"two")
    assert Journal(path).entries == [b"one", b"two"]


@pytest.mark.parametrize("place", [10, 41, 44 + 10, 45 + 41])
def test_damage_that_no_kill_leaves_is_refused_and_nothing_is_dropped(tmp_path: Path, place: int) -> None:
    path = tmp_path / "a.journal"
    journal = Journal(path)
    for entry in (b"one", b"seven", b"three"):
        journal.append(entry)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(FormatError, match=f"a.journal is damaged after {int(place > 43)} whole entries.*remove it"):
        Journal(path)
    assert path.read_bytes() == data


@pytest.mark.parametrize(("place", "whole"), [(0, 0), (2, 0), (7, 0), (43, 1), (45, 1), (88, 2), (95, 2)])
def test_a_damaged_length_is_told_from_an_entry_that_is_cut_short(tmp_path: Path, place: int, whole: int) -> None:
    path = tmp_path / "a.journal"
    journal = Journal(path)
    for entry in (b"one", b"seven", b"three"):
        journal.append(entry)
    data = bytearray(path.read_bytes())
    data[place] |= 128
    path.write_bytes(data)
    with pytest.raises(FormatError, match=f"a.journal is damaged after {whole} whole entries.*remove it"):
        Journal(path)
    assert path.read_bytes() == data
