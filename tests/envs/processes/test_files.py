"""Folders for as long as a process needs them."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from halidegym.envs.processes.files import CacheUnwritable, ScratchFolder
from halidegym.envs.timing.machine import compiling

KEEPS_ONE = """
import time
from pathlib import Path
from halidegym.envs.processes.files import ScratchFolder
folder = ScratchFolder(Path({place!r}))
(folder.path / "left").write_text("behind")
print(folder.path, flush=True)
time.sleep(1000)
"""


def test_a_folder_is_there_as_long_as_it_is_needed(tmp_path: Path) -> None:
    with ScratchFolder(tmp_path) as path:
        (path / "file").write_text("")
        assert list(tmp_path.iterdir()) == [path]
    assert list(tmp_path.iterdir()) == []
    folder = ScratchFolder(tmp_path)
    assert folder.path.is_dir()
    del folder
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_behind_is_removed_at_the_next_start(tmp_path: Path) -> None:
    program = [sys.executable, "-c", KEEPS_ONE.format(place=str(tmp_path))]
    other = tmp_path / "halidegym-of-the-user"
    other.mkdir()
    with (
        subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as living,
        subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as killed,
    ):
        paths = [Path(process.stdout.readline().strip()) for process in (living, killed) if process.stdout is not None]
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert all(path.is_dir() for path in paths)
        with ScratchFolder(tmp_path) as own:
            assert set(tmp_path.iterdir()) == {paths[0], own, other}
        living.kill()


FORKS = """
import os, sys
from pathlib import Path
from halidegym.envs.processes.files import ScratchFolder
place = Path({place!r})
with ScratchFolder(place) as path:
    if (child := os.fork()) == 0:
        with ScratchFolder(place):
            sys.exit()
    assert os.waitpid(child, 0)[1] == 0
    assert list(place.iterdir()) == [path]
"""


def test_a_fork_leaves_the_folder_to_its_parent(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORKS.format(place=str(tmp_path))], check=True)
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_named_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the user of a container has no home. Nobody makes folders in /proc, not even root."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc")
    with (
        pytest.raises(CacheUnwritable, match=r"/proc/halidegym, where locks.*Set XDG_CACHE_HOME to a folder"),
        compiling(),
    ):
        pass
