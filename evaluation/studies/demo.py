"""The demonstration: five pipelines, seven ways to schedule them at an equal budget, and how fast the results run here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

from halidegym.agents.agent import Agent
from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.mb2fbs import MB2FBS
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.reference import Adams2019
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.timing.one_off import Timing, time_schedule


@dataclass(frozen=True)
class Case:
    """A pipeline of the demonstration.

    Attributes:
        pipeline: its name.
        beam_size: of beam search and the plugin.
        options: of the pipeline, by name.
    """

    pipeline: str
    beam_size: int = 32
    options: tuple[tuple[str, Any], ...] = ()


#: The plugin would take minutes for bilateral_grid with its usual beam of 32.
CASES = (
    Case("conv_layer"),
    Case("mat_mul"),
    Case("unsharp"),
    Case("harris"),
    Case("bilateral_grid", beam_size=8),
)

REFERENCE = "Halide's Adams2019"
BEAM = "beam"


def rivals(beam_size: int) -> Mapping[str, Agent]:
    """Return the agents that get the seconds of a beam of this size, by the name to show. Each searches on one thread."""
    return {
        "MB2FBS": MB2FBS.preset("controlled", beta=beam_size),
        "MCTS": MCTS(threads=1),
        "MCTS after a beam": MCTS.preset("mcts_beam", first_beam=beam_size, threads=1),
        "greedy": Greedy(),
        "random": RandomSearch(),
    }


#: The agents by the name to show, in the order in which they run.
AGENTS = (REFERENCE, BEAM, *rivals(32))


@dataclass(frozen=True)
class DemoRun:
    """One agent on one pipeline.

    Attributes:
        pipeline: its name.
        agent: its name.
        plan: what the agent found.
        timing: of the schedule that it found.
    """

    pipeline: str
    agent: str
    plan: Plan
    timing: Timing


def run_demo(threads: int, on_step: Callable[[str], None]) -> Iterator[DemoRun]:
    """Plan and time, pipeline by pipeline.

    Schedules are made for this machine and as many cores as there are threads. The plugin takes the time that it takes, and
    beam search, which has the same parameters, likewise; all others get the seconds that beam search took. Agents that found
    the same schedule share its timing.

    Args:
        threads: to run on.
        on_step: called with a text when a step begins; there are `num_steps`.
    """
    for case in CASES:
        problem = run_isolated(_problem, case.pipeline, dict(case.options), threads)
        timings: dict[str, Timing] = {}
        for name, plan in _plans(case, problem, on_step):
            on_step(f"{case.pipeline}: timing {name}")
            source = plan.schedule.cpp()
            if source not in timings:
                timings[source] = time_schedule(problem, plan.schedule, threads=threads, time_limit_s=1.0)
            yield DemoRun(case.pipeline, name, plan, timings[source])


def _plans(case: Case, problem: SchedulingProblem, on_step: Callable[[str], None]) -> Iterator[tuple[str, Plan]]:
    on_step(f"{case.pipeline}: {REFERENCE}")
    yield REFERENCE, Adams2019(beam_size=case.beam_size, passes=5).plan(problem)
    on_step(f"{case.pipeline}: {BEAM}")
    beam = BeamSearch(beam_size=case.beam_size, passes=5).plan(problem)
    yield BEAM, beam
    for name, agent in rivals(case.beam_size).items():
        on_step(f"{case.pipeline}: {name}")
        yield name, agent.plan(problem, seconds=beam.seconds)


def num_steps() -> int:
    """Return how often `run_demo` reports a step."""
    return 2 * len(CASES) * len(AGENTS)


@dataclass(frozen=True)
class Summary:
    """One agent over all pipelines, in geometric mean.

    Attributes:
        agent: its name.
        cost: relative to beam search.
        run_time: relative to the plugin's schedules; None if a schedule failed.
    """

    agent: str
    cost: float
    run_time: float | None


def summarize(runs: Iterable[DemoRun]) -> list[Summary]:
    """Compare the agents over the pipelines on which all of them ran."""
    of = {(run.pipeline, run.agent): run for run in runs}
    names = list(dict.fromkeys(pipeline for pipeline, _ in of))
    return [
        Summary(
            agent,
            geometric_mean(_cost(of[name, agent]) / _cost(of[name, BEAM]) for name in names),
            geometric_mean(of[name, agent].timing.median_s / of[name, REFERENCE].timing.median_s for name in names)
            if all(of[name, rival].timing.outcome == "ok" for name in names for rival in (agent, REFERENCE))
            else None,
        )
        for agent in AGENTS
    ]


def _cost(run: DemoRun) -> float:
    assert run.plan.cost is not None, "all agents of the demonstration state the cost"
    return run.plan.cost


def usable_threads() -> int:
    """Return two, or one where there is just one core."""
    return min(2, len(os.sched_getaffinity(0)))


def _problem(name: str, options: dict[str, Any], parallelism: int) -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines.build(name, **options), parallelism=parallelism, name=name)
