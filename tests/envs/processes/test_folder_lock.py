"""One process at a time writes into a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from halidegym.envs.processes.folder_lock import FolderLock
from halidegym.native._core import InvalidParameter


def test_a_folder_is_free_again_when_its_lock_is_closed(tmp_path: Path) -> None:
    with (
        FolderLock(tmp_path / "some/new"),
        pytest.raises(InvalidParameter, match=r"Another process is writing into .*new"),
    ):
        FolderLock(tmp_path / "some/new")
    with FolderLock(tmp_path / "some/new"):
        pass
