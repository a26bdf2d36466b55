"""What a problem knows of itself once it was asked for it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from halidegym.envs.pipelines import toys
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native import _core
from halidegym.native.weights import builtin_weights


def test_greedy_searches_of_two_problems_do_not_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    both_search, search = threading.Barrier(2), _core.beam_search

    def meet_and_search(space: Any, options: Any) -> Any:
        both_search.wait(10)
        return search(space, options)

    monkeypatch.setattr(_core, "beam_search", meet_and_search)
    problems = [PreparedProblem(toys.problem(name), Rules(), builtin_weights()) for name in ("toy_blur", "toy_scan")]
    with ThreadPoolExecutor(2) as threads:
        costs = list(threads.map(lambda problem: problem.greedy_cost, problems))
    assert costs == [problem.greedy_cost for problem in problems]  # without another search, which would wait in vain
