"""Work that one thread at a time does, beside forks of the process."""

from __future__ import annotations

import os
import signal
import threading
import time

from halidegym.envs.processes.turn import Turn


def test_a_fork_has_its_turn_and_forks_again_although_another_thread_came_when_it_was_begun() -> None:
    threads = list[threading.Thread]()

    def come() -> None:
        if threads and not threads[-1].ident:
            threads[-1].start()
            time.sleep(0.1)

    def work() -> None:
        with turn:
            pass

    os.register_at_fork(before=come)  # hooks before a fork are called from the last one to the first
    turn = Turn()
    threads.append(threading.Thread(target=work))
    child = os.fork()
    if child == 0:
        signal.alarm(10)  # of its end, should it hang
        work()
        if os.fork() == 0:
            os._exit(0)
        os._exit(os.wait()[1])
    assert os.waitpid(child, 0)[1] == 0
    threads[-1].join()
