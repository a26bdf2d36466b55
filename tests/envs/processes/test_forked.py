"""Processes that are forked from a server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forking_functions import (
    add_with_signals_blocked,
    descriptors_left_behind,
    forks_of_two,
    has_started_beside_a_fork,
    inherited_later,
    kept_processes_of_two,
    remains_beside_a_fork,
    servers_of_threads,
    time_to_finish_beside_a_fork,
    why_nothing_is_imported,
)
from halidegym.envs.processes import forked
from halidegym.envs.processes.confined import ProcessEnded
from halidegym.envs.processes.isolated import PythonProcess, run_anew, run_isolated
from halidegym.envs.processes.python import python_path
from isolated_functions import add, multiply, threads_of_a_parallel_loop
from processes_for_tests import all_end, children_of, descendants_of, is_running


def test_forks_have_a_server_in_common_and_others_have_none() -> None:
    server = run_isolated(os.getppid)
    assert server in children_of(os.getpid())
    assert run_isolated(os.getppid) == server != run_anew(os.getppid) == os.getpid()


def test_a_server_that_somebody_ends_is_replaced_and_its_forks_end_with_it() -> None:
    with PythonProcess() as process:
        server = process.call(os.getppid)
        os.kill(server, signal.SIGKILL)
        assert all_end([server, process.pid])
        with pytest.raises(ProcessEnded, match="died of SIGKILL"):
            process.call(add, 1, b=1)
    assert run_isolated(add, 1, b=1) == 2


def test_a_server_that_is_stopped_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(forked, "_LONGEST_AFTER_KILL_S", 0.5)
    with PythonProcess() as process, (tmp_path / "words").open("wb") as words:
        monkeypatch.setattr(forked, "_LONGEST_SILENCE_S", 0.5)
        server = process.call(os.getppid)
        os.kill(server, signal.SIGSTOP)
        goes_on = threading.Timer(20.0, os.kill, (server, signal.SIGCONT))
        goes_on.start()
        try:
            with pytest.raises(ProcessEnded, match=r"still running after 0.5 s"):
                process.call(time.sleep, 100.0, timeout_s=0.5)
            with pytest.raises(BrokenPipeError, match="is stopped"):
                forked._servers.get().fork(words, 4 << 30, {})
            assert goes_on.is_alive()
        finally:
            goes_on.cancel()
            os.kill(server, signal.SIGCONT)
    assert run_isolated(os.getppid) == server


def test_many_threads_may_ask_at_once() -> None:
    with ThreadPoolExecutor(8) as executor:
        sums = executor.map(lambda number: run_isolated(add, number, b=number), range(40))
        assert list(sums) == [2 * number for number in range(40)]
    assert len(run_anew(servers_of_threads)) == 1


def test_a_process_outlives_the_thread_that_asked_for_it() -> None:
    processes: list[PythonProcess] = []
    thread = threading.Thread(target=lambda: processes.append(PythonProcess()))
    thread.start()
    thread.join()
    with processes[0] as process:
        assert process.call(add, 1, b=2) == 3


@pytest.mark.parametrize("forked", [True, False])
def test_a_process_that_nobody_has_any_more_ends_and_leaves_no_descriptors(forked: bool) -> None:
    with PythonProcess(forked=forked):
        before = len(os.listdir("/proc/self/fd"))
    processes = [PythonProcess(forked=forked)]
    pid = processes[0].pid
    assert is_running(pid)
    with pytest.warns(ResourceWarning):
        processes.clear()
    assert all_end([pid])
    assert len(os.listdir("/proc/self/fd")) < before


def test_its_number_is_its_own_until_its_end_is_known() -> None:
    with PythonProcess() as process:
        os.kill(process.pid, signal.SIGKILL)
        time.sleep(0.2)
        os.kill(process.pid, 0)  # there is such a process, if only its remains
        assert not process.is_running


def test_a_fork_of_the_program_has_a_server_of_its_own_and_leaves_the_other_one() -> None:
    own, of_the_fork, own_again = run_anew(forks_of_two)
    assert own == own_again != of_the_fork


@pytest.mark.parametrize("forked", [True, False])
def test_a_fork_of_the_program_does_not_share_a_process_with_it(forked: bool) -> None:
    own, of_the_fork, own_again = run_anew(kept_processes_of_two, forked)
    assert own == own_again != of_the_fork


@pytest.mark.parametrize("forked", [True, False])
def test_a_fork_of_the_program_does_not_keep_another_thread_from_starting_a_process(forked: bool) -> None:
    assert run_anew(has_started_beside_a_fork, forked)


def test_forks_of_the_program_keep_nothing_from_its_end() -> None:
    assert run_anew(time_to_finish_beside_a_fork, 60.0, timeout_s=50.0) < 50
    assert run_anew(remains_beside_a_fork) == []
    with _program("wait_beside_a_fork") as program:
        while len(descendants := descendants_of(program.pid)) < 3:
            time.sleep(0.02)
        program.send_signal(signal.SIGKILL)
        forks = {pid for pid in descendants if b"forking_functions" in Path(f"/proc/{pid}/cmdline").read_bytes()}
        assert len(forks) == 1 and all_end(descendants - forks)
        assert all(map(is_running, forks))
    for fork in forks:
        os.kill(fork, signal.SIGKILL)


def test_a_program_ends_without_a_word_while_daemon_threads_wait_and_nothing_stays() -> None:
    with _program("leave_a_thread_waiting") as program:
        descendants, errors = program.communicate(timeout=60)
    assert (program.returncode, errors) == (0, b"")
    assert all_end(map(int, descendants.split()))


def test_an_end_is_known_though_ctrl_c_came_as_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    number = forked._number

    def told_too_late(*arguments: Any) -> None:
        number(*arguments)
        raise KeyboardInterrupt

    with PythonProcess() as process:
        monkeypatch.setattr(forked, "_number", told_too_late)
        with pytest.raises(KeyboardInterrupt):
            process.kill()
        monkeypatch.undo()
        assert process.finish(10.0).ending == "died of SIGKILL"


def test_a_server_hears_of_ends_whatever_signals_its_program_blocks() -> None:
    assert run_anew(add_with_signals_blocked, timeout_s=60.0) == 2


def test_what_a_program_changes_of_itself_its_processes_inherit() -> None:
    assert run_anew(inherited_later) == (0o027, 321)


def test_no_room_for_a_process_costs_no_descriptors() -> None:
    refusals, lost = run_anew(descriptors_left_behind)
    assert refusals > 3 and lost == 0


def test_a_server_that_cannot_import_says_why(tmp_path: Path) -> None:
    calls = "".join(f"def f{number}():\n    f{number + 1}()\n" for number in range(40))
    (tmp_path / "struct.py").write_text(f"{calls}f0()\n")
    assert "NameError: name 'f40' is not defined" in run_anew(why_nothing_is_imported, tmp_path)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is but one core")
def test_halide_has_its_threads() -> None:
    assert run_isolated(threads_of_a_parallel_loop) > 1


def test_linear_algebra_works_in_all_its_threads() -> None:
    matrix = np.random.default_rng(0).random((400, 400))
    assert np.allclose(run_isolated(multiply, matrix), matrix @ matrix)


def _program(function: str) -> subprocess.Popen[bytes]:
    """One that calls a function, and to which all warnings are errors."""
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", f"import forking_functions as all; all.{function}()"]
    path = python_path()
    return subprocess.Popen(command, env=os.environ | path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
