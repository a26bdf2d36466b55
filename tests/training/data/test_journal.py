"""Journals, and what a kill leaves of them."""

from __future__ import annotations

from pathlib import Path

import pytest

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
