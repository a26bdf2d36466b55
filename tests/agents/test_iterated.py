"""Iterated search."""

from __future__ import annotations

import math
import os
import pickle
import signal
import threading
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest

import pipelines_for_tests
from halidegym.agents.agent import Agent
from halidegym.agents.budget import Budget
from halidegym.agents.iterated import IteratedSearch
from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.planners.tag import TAG
from halidegym.agents.progress import OnProgress
from halidegym.agents.reference import Adams2019
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes import confined
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
from halidegym.envs.timing.timers import RecordingTimer, Replay, Timer, Unrecorded
from halidegym.native._core import InvalidParameter, SearchExhausted, SyntheticTree
from oracle.builder_problem import SSE_AVX2
from search_spaces_for_tests import PythonTree


class FixedTimes:
    """A timer whose schedules take these seconds, in the order in which they are asked for first."""

    def __init__(self, *seconds: float) -> None:
        self._seconds = iter(seconds)
        self._known: dict[str, Timing] = {}

    def time(self, problem: SchedulingProblem, schedule: Any, *, cost: float | None = None) -> Timing:
        if (source := schedule.cpp()) not in self._known:
            seconds = next(self._seconds)
            failed = math.isinf(seconds)
            self._known[source] = Timing("crash", (), 0.0, "boom") if failed else Timing("ok", (seconds,), 0.0)
        return self._known[source]

    def compare(self, problem: SchedulingProblem, a: Any, b: Any, *, costs: Any = (None, None)) -> Comparison:
        timings = self.time(problem, a), self.time(problem, b)
        ok = all(timing.outcome == "ok" for timing in timings)
        ratio = timings[1].median_s / timings[0].median_s if ok else math.nan
        return Comparison(ratio, ratio, ratio, *timings)

    def close(self) -> None: ...


@pytest.fixture(scope="module")
def mm() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=2)


def test_the_best_round_wins(mm: SchedulingProblem) -> None:
    agent = RandomSearch(num_schedules=5)
    plan = IteratedSearch(agent, rounds=6).plan(mm, seed=4)
    assert len(plan.pass_costs) == 6
    assert plan.cost == min(plan.pass_costs) == plan.candidates[0].cost
    assert plan.pass_candidates[0] == agent.plan(mm, seed=4).candidates[0]
    assert len(set(plan.pass_costs)) > 1
    assert (plan.evaluations, plan.ended_by, plan.run_time) == (30, "finished", None)
    costs = [candidate.cost for candidate in plan.candidates]
    assert costs == sorted(costs)
    history = [improvement.cost for improvement in plan.history]
    assert history == sorted(history, reverse=True)
    assert history[-1] == plan.cost
    assert [i.evaluations for i in plan.history] == sorted(i.evaluations for i in plan.history)


def test_one_round_is_the_search_itself(mm: SchedulingProblem) -> None:
    agent = TAG(num_evaluations=50)
    once, alone = IteratedSearch(agent, rounds=1).plan(mm, seed=9), agent.plan(mm, seed=9)
    assert (once.cost, once.candidates, once.evaluations) == (alone.cost, alone.candidates, alone.evaluations)


@pytest.mark.parametrize("workers", [1, 3])
def test_counts_decide_reproducibly(mm: SchedulingProblem, workers: int) -> None:
    agent = IteratedSearch(BeamSearch(beam_size=4, passes=1, random_dropout=30), workers=workers)
    plans = [agent.plan(mm, evaluations=3000, seed=seed) for seed in (1, 1, 2)]
    assert plans[0].candidates == plans[1].candidates != plans[2].candidates
    assert plans[0].evaluations == plans[1].evaluations
    assert 3000 <= (plans[0].evaluations or 0) < 6000
    assert len(plans[0].pass_costs) > 1


@pytest.mark.parametrize("budget", [{"evaluations": 40}, {"expansions": 3}])
def test_a_round_is_limited_as_the_search_itself_is(mm: SchedulingProblem, budget: dict[str, int]) -> None:
    """Of a search that takes more than all of it by itself, there is one round."""
    beam = BeamSearch(beam_size=4, passes=1)
    once, alone = IteratedSearch(beam).plan(mm, **budget), beam.plan(mm, **budget)
    assert (once.evaluations, once.expansions, once.cost) == (alone.evaluations, alone.expansions, alone.cost)
    assert (len(once.pass_costs), once.ended_by) == (1, "budget")
    assert (once.evaluations or 0) < (beam.plan(mm).evaluations or 0)


def test_workers_find_what_one_finds(mm: SchedulingProblem) -> None:
    agent = RandomSearch(num_schedules=20)
    alone, together = (IteratedSearch(agent, rounds=7, workers=workers).plan(mm, seed=2) for workers in (1, 3))
    assert (alone.candidates, alone.pass_costs) == (together.candidates, together.pass_costs)


def test_seconds_end_the_rounds(mm: SchedulingProblem) -> None:
    plan = IteratedSearch(TAG(num_evaluations=20)).plan(mm, seconds=0.5)
    assert 0.5 <= plan.seconds < 30
    assert plan.ended_by == "budget"
    assert IteratedSearch(RandomSearch(num_schedules=3)).plan(mm, seconds=1e-9).cost


def test_a_planner_that_expands_nothing_ends(mm: SchedulingProblem) -> None:
    assert len(IteratedSearch(RandomSearch(num_schedules=3)).plan(mm, expansions=10).pass_costs) == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_interrupt_returns_the_best_so_far(mm: SchedulingProblem, workers: int) -> None:
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    plan = IteratedSearch(RandomSearch(), workers=workers).plan(mm, seconds=60)
    assert time.perf_counter() - start < 40
    assert plan.ended_by == "interrupt"
    assert plan.cost is not None
    timer.join()


def test_errors_arrive() -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.matmul, target=SSE_AVX2, parallelism=16)
    with pytest.raises(SearchExhausted, match="memory_limit"):
        IteratedSearch(BeamSearch(beam_size=2, memory_limit=0), workers=2).plan(problem)


def test_the_fastest_of_several_parallelisms_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.mm, parallelism=1)
    agent = IteratedSearch(RandomSearch(num_schedules=3), rounds=4, measured=3, parallelisms=(1, 4))
    settings = TimingSettings(threads=1, time_limit_s=0.01, patience_s=0.01)
    with closing(RecordingTimer(tmp_path / "timings.db", settings)) as timer:
        plan = agent.plan(problem, timer=timer)
    assert plan.measurements == 3
    assert plan.run_time is not None
    assert plan.run_time > 0
    assert plan.fingerprint.parallelism in (1, 4)
    assert plan.schedule.problem.parallelism == plan.fingerprint.parallelism
    assert plan.schedule_of(plan.candidates[0]).cpp() == plan.schedule.cpp()
    assert plan.cost == plan.candidates[0].cost
    assert len(plan.pass_costs) == 2

    # No compiler, no clock: no process at all.
    monkeypatch.setattr(confined, "RUNNER", "/nonexistent")
    replayed = agent.plan(problem, timer=Replay(tmp_path / "timings.db"))
    untimed = {"seconds": 0.0, "cpu_seconds": 0.0, "history": ()}
    assert replace(replayed, **untimed) == replace(plan, **untimed)
    with pytest.raises(Unrecorded, match="no measurement"):
        agent.plan(problem, timer=Replay(tmp_path / "timings.db"), seed=1)


def test_the_choice_by_time_overrules_the_cost(mm: SchedulingProblem) -> None:
    """With run times that contradict the costs, the dearest finalist wins; one that fails never does."""
    agent = IteratedSearch(RandomSearch(num_schedules=1), rounds=5, measured=4)
    by_cost = sorted(
        {p.cost: p for p in IteratedSearch(agent.agent, rounds=5).plan(mm).pass_candidates}.values(),
        key=lambda c: c.cost,
    )
    for seconds, run_time, winner in (
        ((4.0, 3.0, 1.0, math.inf), 1.0, 2),
        ((math.inf, 3.0, 4.0, 2.0), 2.0, 3),
        ((math.inf,) * 4, None, 0),
    ):
        plan = agent.plan(mm, timer=FixedTimes(*seconds))
        assert (plan.run_time, plan.measurements) == (run_time, 4)
        assert plan.candidates[0] == by_cost[winner]
        assert plan.actions == by_cost[winner].actions
    plan = agent.plan(mm, timer=FixedTimes(4.0), measurements=1)
    assert (plan.run_time, plan.measurements, plan.candidates[0]) == (4.0, 1, by_cost[0])


@pytest.mark.parametrize(("workers", "limit", "rounds"), [(1, None, 3), (1, 2, 1), (3, 2, 2), (2, 7, 3)])
def test_rounds_that_measure_share_the_measurements(
    mm: SchedulingProblem, workers: int, limit: int | None, rounds: int
) -> None:
    """With run times that contradict the costs, the fastest of all wins."""
    times = CostsUpsideDown()
    planner = MCTS(trees=2, greedy_trees=0, iterations=4, measured=True, threads=1)
    plan = IteratedSearch(planner, rounds=3, workers=workers).plan(mm, measurements=limit, timer=times)
    assert plan.measurements == times.count
    assert limit is None or times.count <= limit
    assert (plan.run_time, plan.cost) == (min(times.seconds), 1 / min(times.seconds))
    assert len(plan.pass_costs) <= rounds
    assert plan.ended_by == ("budget" if times.count == limit and len(plan.pass_costs) < 3 else "finished")


class CostsUpsideDown(FixedTimes):
    """A timer by which a schedule is the faster, the dearer it is."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    @property
    def count(self) -> int:
        """How often it was asked."""
        return len(self.seconds)

    def time(self, problem: SchedulingProblem, schedule: Any, *, cost: float | None = None) -> Timing:
        assert cost is not None
        self.seconds.append(1 / cost)
        return Timing("ok", (1 / cost,), 0.0)


def test_rounds_that_measure_are_compared_once() -> None:
    planner = MCTS(measured=True)
    with pytest.raises(InvalidParameter, match=r"measured=2, but MCTS measures in its rounds.*give measured=0"):
        IteratedSearch(planner, measured=2)
    with pytest.raises(InvalidParameter, match="compared by cost"):
        IteratedSearch(planner).solve(SyntheticTree(), measure=lambda node: 1.0)


def test_measured_plans_are_saved(mm: SchedulingProblem, tmp_path: Path) -> None:
    plan = IteratedSearch(RandomSearch(num_schedules=1), rounds=2, measured=1).plan(mm, timer=FixedTimes(0.25))
    plan.save(tmp_path / "plan.json")
    loaded = Plan.load(tmp_path / "plan.json", mm)
    assert (loaded.run_time, loaded.measurements, loaded.candidates) == (0.25, 1, plan.candidates)


@pytest.mark.parametrize("workers", [1, 3])
def test_any_space_is_searched_again_and_again(workers: int) -> None:
    tree = SyntheticTree(seed=5)
    agent = TAG(num_evaluations=200)
    solution = IteratedSearch(agent, rounds=6, workers=workers).solve(tree, seed=3)
    alone = agent.solve(tree, seed=3)
    assert len(solution.pass_costs) == 6
    assert solution.cost == min(solution.pass_costs) == solution.candidates[0].cost < max(solution.pass_costs)
    assert solution.pass_costs[0] == alone.cost
    assert solution.evaluations == 6 * alone.evaluations
    assert solution.ended_by == "finished"
    state = tree.root()
    for action in solution.actions:
        state = tree.apply(state, action)
    assert state == solution.state
    assert [i.cost for i in solution.history][-1] == solution.cost


def test_a_space_in_python_is_searched_by_threads() -> None:
    tree = PythonTree(SyntheticTree())
    solution = IteratedSearch(RandomSearch(num_schedules=3), rounds=4, workers=2).solve(tree)
    assert solution.evaluations == 12
    with pytest.raises(InvalidParameter, match="measured=2"):
        IteratedSearch(RandomSearch(), measured=2).solve(SyntheticTree())


def test_parameters_are_checked() -> None:
    agent = RandomSearch()
    for arguments in ({"rounds": 0}, {"workers": 0}, {"measured": -1}, {"parallelisms": (2, 16)}, {"parallelisms": ()}):
        with pytest.raises(InvalidParameter, match=next(iter(arguments))):
            IteratedSearch(agent, **arguments)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="planner"):
        IteratedSearch("RandomSearch")  # type: ignore[arg-type]


def test_iterated_search_is_a_value() -> None:
    agent = IteratedSearch(TAG(), workers=2, measured=2, parallelisms=(2, 16))
    assert pickle.loads(pickle.dumps(agent)) == agent
    assert agent != IteratedSearch(TAG())
    assert "TAG(" in repr(agent)


@dataclass(frozen=True)
class Own(Agent):
    """An agent that is none of the package's."""

    plans: Literal["whole", "without cost", "without candidates", "without counts", "of a space", "none"] = "whole"

    def search(
        self,
        problem: SchedulingProblem,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        timer: Timer | None = None,
    ) -> Plan:
        plan = RandomSearch(num_schedules=1).search(problem, budget, seed, on_progress, timer)
        if self.plans == "none":
            return None  # type: ignore[return-value]
        if self.plans == "of a space":
            return RandomSearch().solve(SyntheticTree())  # type: ignore[return-value]
        if self.plans == "without counts":
            return replace(plan, evaluations=None, expansions=None)
        return replace(
            plan,
            cost=None if self.plans == "without cost" else plan.cost,
            candidates=() if self.plans == "without candidates" else plan.candidates,
        )


def test_an_agent_of_ones_own_is_repeated(mm: SchedulingProblem) -> None:
    plan = IteratedSearch(Own(), rounds=5).plan(mm, seed=1)
    assert len(plan.pass_costs) == 5
    assert plan.cost == min(plan.pass_costs) < max(plan.pass_costs)
    for plans, message in (
        ("without cost", "no cost"),
        ("without candidates", "no candidates"),
        ("none", "returned"),
        ("of a space", r"Own\.search returned SpaceSolution\(.*; let it return the Plan"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            IteratedSearch(Own(plans)).plan(mm)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="no candidates"):
        IteratedSearch(Adams2019(beam_size=1)).plan(mm)


@pytest.mark.parametrize("budget", [{"evaluations": 10}, {"evaluations": 10, "expansions": 10}], ids=str)
def test_rounds_that_count_nothing_of_the_budget_end(budget: dict[str, int], mm: SchedulingProblem) -> None:
    timer = threading.Timer(10, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    plan = IteratedSearch(Own("without counts")).plan(mm, **budget)  # type: ignore[arg-type]
    timer.cancel()
    assert (len(plan.pass_costs), plan.ended_by) == (1, "budget")
