"""Processes that are forked from a server."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from halidegym.envs.processes.confined import ProcessEnded
from halidegym.envs.processes.isolated import PythonProcess, run_anew, run_isolated
from isolated_functions import add, forks_of_two, multiply, threads_of_a_parallel_loop
from processes_for_tests import all_end, children_of, is_running


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


def test_many_threads_may_ask_at_once() -> None:
    with ThreadPoolExecutor(8) as executor:
        sums = executor.map(lambda number: run_isolated(add, number, b=number), range(40))
        assert list(sums) == [2 * number for number in range(40)]


def test_a_process_outlives_the_thread_that_asked_for_it() -> None:
    processes: list[PythonProcess] = []
    thread = threading.Thread(target=lambda: processes.append(PythonProcess()))
    thread.start()
    thread.join()
    with processes[0] as process:
        assert process.call(add, 1, b=2) == 3


def test_a_process_that_nobody_has_any_more_ends() -> None:
    processes = [PythonProcess()]
    pid = processes[0].pid
    assert is_running(pid)
    with pytest.warns(ResourceWarning):
        processes.clear()
    assert all_end([pid])


def test_its_number_is_its_own_until_its_end_is_known() -> None:
    with PythonProcess() as process:
        os.kill(process.pid, signal.SIGKILL)
        time.sleep(0.2)
        os.kill(process.pid, 0)  # there is such a process, if only its remains
        assert not process.is_running


def test_a_fork_of_the_program_has_a_server_of_its_own_and_leaves_the_other_one() -> None:
    own, of_the_fork, own_again = run_anew(forks_of_two)
    assert own == own_again != of_the_fork


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is but one core")
def test_halide_has_its_threads() -> None:
    assert run_isolated(threads_of_a_parallel_loop) > 1


def test_linear_algebra_works_in_all_its_threads() -> None:
    matrix = np.random.default_rng(0).random((400, 400))
    assert np.allclose(run_isolated(multiply, matrix), matrix @ matrix)
