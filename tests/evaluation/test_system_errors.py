"""What the system refuses is an error of one line, whichever command asked for it."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pipelines_for_tests
from halidegym.agents.planners.greedy import Greedy
from halidegym.evaluation.cli import main

PIPELINES = pipelines_for_tests.__file__


def halidegym(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_a_full_disk_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Greedy, "plan", full)
    result = halidegym("schedule", f"{PIPELINES}:mm", "--agent", "greedy")
    assert result.exit_code == 2
    assert result.stderr == "Error: No space left on device. Make room, and run the same command again.\n"


def test_too_few_open_files_are_told_with_a_remedy_whichever_file_is_one_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for named in ((), (".",)):

        def one_too_many(*_: object, named: tuple[str, ...] = named, **__: object) -> None:
            raise OSError(errno.EMFILE, "Too many open files", *named)

        monkeypatch.setattr(Greedy, "plan", one_too_many)
        result = halidegym("schedule", f"{PIPELINES}:mm", "--agent", "greedy")
        assert result.exit_code == 2
        assert result.stderr.startswith("Error: Too many open files. Allow this process more of them")


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EAGAIN, "Resource temporarily unavailable"),
        OSError(errno.EAGAIN, "Resource temporarily unavailable", "a Python process"),
        RuntimeError("can't start new thread"),
    ],
    ids=str,
)
def test_processes_and_threads_that_cannot_be_started_are_told_with_a_remedy(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_too_many(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Greedy, "plan", one_too_many)
    result = halidegym("schedule", f"{PIPELINES}:mm", "--agent", "greedy")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "Error: Resource temporarily unavailable. No more processes and threads may be started"
    )


def test_a_folder_that_was_removed_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    result = halidegym("schedule", "toy_blur", "--agent", "greedy", "-o", "blur.h")
    assert (result.exit_code, result.stderr) == (
        2,
        "Error: No such file or directory. The folder that you are in was removed: change to one that exists.\n",
    )
