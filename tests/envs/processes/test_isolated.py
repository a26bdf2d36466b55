"""Functions in processes of their own."""

from __future__ import annotations

import pytest

from halidegym.envs.processes.isolated import ProcessFailed, run_isolated
from halidegym.native._core import InvalidParameter
from isolated_functions import add, crash, name_of_a_func, refuse, work


def test_results_and_errors_come_back() -> None:
    assert run_isolated(add, 2, b=3) == 5
    with pytest.raises(InvalidParameter, match="refused there"):
        run_isolated(refuse)


def test_every_process_is_fresh() -> None:
    names = [run_isolated(name_of_a_func) for _ in range(2)]
    assert names[0] == names[1]


def test_a_crash_is_an_error_with_the_last_words() -> None:
    with pytest.raises(ProcessFailed, match=r"crash died of SIGSEGV. Its last words: goodbye"):
        run_isolated(crash, "goodbye")


@pytest.mark.alone
def test_time_and_memory_are_those_of_the_function() -> None:
    ballast = bytearray(256 * 2**20)  # of this process: not to be counted
    _, resources = run_isolated(work)
    assert len(ballast) > 0
    assert 60 * 2**20 < resources.peak_memory_bytes < 128 * 2**20
    assert 0.01 < resources.cpu_seconds < 60  # ticks of the clock, and threads, may make it more than the seconds
    assert 0.01 < resources.seconds < 60
