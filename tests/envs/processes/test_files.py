"""Folders for as long as a process needs them."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from halidegym.envs.processes.files import CacheUnwritable, ScratchFolder, write_atomically
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


def test_files_are_written_as_a_whole_and_as_readable_as_others(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    write_atomically(tmp_path / "file", b"first")
    write_atomically(tmp_path / "file", b"second")
    assert (tmp_path / "file").read_bytes() == b"second"
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / "folder", b"third")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "other"]


def test_what_was_there_stays_if_the_disk_is_full(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("of before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            write_atomically(file, b"of now, and longer")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert file.read_text() == "of before"
    assert list(tmp_path.iterdir()) == [file]


def test_links_and_pipes_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_atomically(tmp_path / "link", b"linked")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"linked"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(tmp_path / "pipe", b"piped")
    assert os.read(reader, 100) == b"piped" and (tmp_path / "pipe").is_fifo()
    os.close(reader)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*/missing/file'$"):
        write_atomically(tmp_path / "missing/file", b"")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/file'$"):
        write_atomically(tmp_path / "file", b"")


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
