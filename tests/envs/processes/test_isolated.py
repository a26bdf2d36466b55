"""Functions in processes of their own."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from halidegym.envs.processes.confined import ProcessEnded
from halidegym.envs.processes.isolated import KeptProcess, ProcessFailed, PythonProcess, run_anew, run_isolated
from halidegym.envs.processes.python import python_path
from halidegym.native._core import InvalidParameter
from isolated_functions import (
    Surroundings,
    add,
    crash,
    die,
    die_the_first_time,
    drawn_numbers,
    input_is_empty,
    name_of_a_func,
    refuse,
    surroundings,
    take,
    wait_after_a_sign,
    work,
)
from processes_for_tests import all_end, descendants_of

both_ways = pytest.mark.parametrize("run", [run_isolated, run_anew])
forked_or_not = pytest.mark.parametrize("forked", [True, False])


@both_ways
def test_results_and_errors_come_back(run: Callable[..., Any]) -> None:
    assert run(add, 2, b=3) == 5
    with pytest.raises(InvalidParameter, match="refused there"):
        run(refuse)


@both_ways
def test_every_process_is_fresh(run: Callable[..., Any]) -> None:
    names = [run(name_of_a_func) for _ in range(2)]
    assert names[0] == names[1]
    assert len({run(drawn_numbers) for _ in range(2)}) == 2, "generators have other seeds"


@both_ways
def test_a_process_has_what_a_program_would_have(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one_core = {min(os.sched_getaffinity(0))}
    before = os.sched_getaffinity(0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HALIDEGYM_TEST_VARIABLE", "seen")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "only_here.py").write_text("def answer():\n    return 42\n")
    os.sched_setaffinity(0, one_core)
    try:
        found = run(surroundings, ("HALIDEGYM_TEST_VARIABLE", "HOME"))
    finally:
        os.sched_setaffinity(0, before)
    assert found == Surroundings(tmp_path, ("seen", None), one_core, leads_a_session=True)
    assert run(os.sched_getaffinity, 0) == before
    assert run(importlib.import_module("only_here").answer) == 42


@both_ways
def test_a_crash_is_an_error_with_the_last_words(run: Callable[..., Any]) -> None:
    with pytest.raises(ProcessFailed, match=r"crash died of SIGSEGV. Its last words: goodbye"):
        run(crash, "goodbye")


@forked_or_not
def test_variables_are_changed_and_left_out(forked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALIDEGYM_TEST_VARIABLE", "seen")
    with PythonProcess(environment={"HALIDEGYM_TEST_VARIABLE": None, "ANOTHER": "one"}, forked=forked) as process:
        variables = process.call(surroundings, ("HALIDEGYM_TEST_VARIABLE", "ANOTHER")).variables
    assert variables == (None, "one")


@forked_or_not
def test_a_process_calls_many_functions_and_keeps_what_they_print(forked: bool) -> None:
    with PythonProcess(forked=forked) as process:
        assert [process.call(add, number, b=1) for number in range(3)] == [1, 2, 3]
        process.call(print, "said and flushed", flush=True)
        assert process.call(input_is_empty)
        assert process.words == "said and flushed\n"
        assert process.call("loud".upper) == "LOUD", "methods of C have no module"


@forked_or_not
def test_long_results_come_in_time(forked: bool) -> None:
    with PythonProcess(forked=forked) as process:
        assert process.call(bytes, 100 << 20, timeout_s=50.0) == bytes(100 << 20)


@forked_or_not
def test_garbage_is_collected_but_not_looked_for_in_what_is_imported(forked: bool) -> None:
    with PythonProcess(forked=forked) as process:
        process.call(add, 1, b=1)
        frozen = process.call(gc.get_freeze_count)
        assert frozen > 0 and process.call(gc.isenabled)
        assert process.call(gc.get_freeze_count) == frozen, "what later calls leave behind is garbage"


@forked_or_not
def test_memory_and_time_have_an_end(forked: bool) -> None:
    with PythonProcess(memory_bytes=2 << 30, forked=forked) as process, pytest.raises(ProcessEnded) as ended:
        process.call(take, 4 << 30)
    assert ended.value.finished.outcome == "out_of_memory"
    with pytest.raises(ProcessFailed, match="take ran out of memory"):
        run_isolated(take, 1 << 50)
    with PythonProcess(forked=forked) as process, pytest.raises(ProcessEnded, match="still running after 1 s"):
        process.call(time.sleep, 1000, timeout_s=1.0)
    for size in (0, 1 << 70, "1"):
        with pytest.raises(InvalidParameter, match=r"memory_bytes=.* is out of range"):
            PythonProcess(memory_bytes=size, forked=forked)  # type: ignore[arg-type]


def test_an_end_without_an_answer_is_told_though_no_error_came_with_it() -> None:
    with pytest.raises(ProcessFailed, match="The process of _exit ended before its time"):
        run_isolated(os._exit, 0)


def test_a_kept_process_is_replaced_when_it_has_died_or_served_enough() -> None:
    process = KeptProcess(calls=2)
    first, second, third = (process.call(os.getpid) for _ in range(3))
    assert first == second != third
    os.kill(third, signal.SIGKILL)
    assert process.call(os.getpid) not in (first, third)
    with pytest.raises(InvalidParameter, match="refused there"):
        process.call(refuse)
    process.close()


def test_a_call_that_somebody_kills_is_made_once_more(tmp_path: Path) -> None:
    process = KeptProcess()
    assert process.call(die_the_first_time, tmp_path / "was-here") == "survived"
    with pytest.raises(ProcessEnded, match="died of SIGKILL"):
        process.call(die)
    with pytest.raises(ProcessEnded, match="died of SIGSEGV"):
        process.call(crash, "once is enough")
    process.close()


def test_an_answer_that_nobody_waited_for_is_not_that_to_the_next_call() -> None:
    def ring(*_: object) -> None:
        raise TimeoutError("the alarm")

    process = KeptProcess()
    assert process.call(os.getpid) > 0
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(TimeoutError, match="the alarm"):
            process.call(time.sleep, 1)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert process.call(max, 2, 5) == 5
    process.close()


def test_a_call_that_is_interrupted_is_not_made_again(tmp_path: Path) -> None:
    process, begun = KeptProcess(), tmp_path / "begun"

    def interrupt() -> None:
        while not begun.exists():
            time.sleep(0.01)
        process.interrupt()

    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(ProcessEnded, match="died of SIGKILL"):
        process.call(wait_after_a_sign, begun)
    other.join()
    process.close()


@pytest.mark.parametrize(("forked", "expected"), [(True, 2), (False, 1)])  # with the server of those that are forked
def test_processes_end_with_the_one_that_started_them(forked: bool, expected: int) -> None:
    program = f"from isolated_functions import wait_in_another_process as wait; wait({forked})"
    path = python_path()
    with subprocess.Popen([sys.executable, "-c", program], env={**os.environ, **path}) as parent:
        while len(descendants := descendants_of(parent.pid)) < expected:
            time.sleep(0.02)
        parent.send_signal(signal.SIGKILL)
    assert all_end(descendants)


@pytest.mark.alone
@both_ways
def test_time_and_memory_are_those_of_the_function(run: Callable[..., Any]) -> None:
    ballast = bytearray(256 * 2**20)  # of this process: not to be counted
    _, resources = run(work)
    assert len(ballast) > 0
    assert 60 * 2**20 < resources.peak_memory_bytes < 128 * 2**20
    assert resources.cpu_seconds > 0.01
    assert resources.seconds > 0.01
