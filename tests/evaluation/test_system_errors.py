"""What the system refuses is an error of one line, whichever command asked for it."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pipelines_for_tests
from disks_for_tests import full_disk
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


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["suites", "--help"], ["suites"]], ids=" ".join)
def test_an_output_without_room_is_one_line(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "halidegym.evaluation.cli", *arguments]
    with open("/dev/full", "w") as full:
        finished = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    told = "Error: No space left on device. Make room, and run the same command again.\n"
    assert (finished.returncode, finished.stderr) == (2, told)


def test_an_output_that_may_not_grow_is_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "halidegym.evaluation.cli", "suites"]
    with full_disk(), (tmp_path / "output").open("w") as output:
        finished = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    told = "Error: File too large. Allow larger files"
    assert (finished.returncode, finished.stderr[: len(told)]) == (2, told)


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
