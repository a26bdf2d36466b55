"""Files are written as a whole or not at all."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from halidegym.envs.sources import load_problem
from halidegym.native._core import FormatError
from halidegym.native.files import write_atomically
from halidegym.native.weights import builtin_weights, load_weights, save_weights


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


WRITES: dict[str, Callable[[Path], None]] = {
    "bytes": lambda path: write_atomically(path, b"of now, and longer"),
    "weights": lambda path: save_weights(builtin_weights(), path),
    "problem": lambda path: load_problem("toy_pointwise").save(path),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_was_there_stays_if_the_disk_is_full(name: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("of before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            WRITES[name](file)
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


def test_links_in_a_circle_are_named_and_stay(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "one")
    with pytest.raises(OSError, match=r"Too many levels of symbolic links: '.*/one'$"):
        write_atomically(tmp_path / "one", b"")
    assert (tmp_path / "one").is_symlink()
    with pytest.raises(FormatError, match="/one: Too many levels of symbolic links"):
        load_weights(tmp_path / "one")
