"""The demonstration: five pipelines, four ways to schedule them, and how fast the results run on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from halidegym.agents.agent import Agent
from halidegym.agents.beam import BeamSearch
from halidegym.agents.greedy import Greedy
from halidegym.agents.plan import Plan
from halidegym.agents.random_search import RandomSearch
from halidegym.agents.reference import Adams2019
from halidegym.envs import pipelines
from halidegym.envs.problem import SchedulingProblem
from halidegym.envs.timing import Timing, time_schedule
from halidegym.evaluation.isolated import run_isolated


@dataclass(frozen=True)
class Case:
    """A pipeline of the demonstration.

    Attributes:
        pipeline: its name.
        beam_size: of beam search and the plugin.
    """

    pipeline: str
    beam_size: int = 32


#: The plugin would take minutes for bilateral_grid with its usual beam of 32.
CASES = (
    Case("conv_layer"),
    Case("mat_mul"),
    Case("unsharp"),
    Case("harris"),
    Case("bilateral_grid", beam_size=8),
)


def agents(beam_size: int) -> dict[str, Agent]:
    """Return the agents by the name to show. Beam search and the plugin have the same parameters, so they must agree."""
    return {
        "random": RandomSearch(num_schedules=1000),
        "greedy": Greedy(),
        f"beam {beam_size}": BeamSearch(beam_size=beam_size, passes=5),
        f"Adams2019 {beam_size}": Adams2019(beam_size=beam_size, passes=5),
    }


@dataclass(frozen=True)
class Entry:
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


def run_demo(threads: int, on_step: Callable[[str], None]) -> Iterator[Entry]:
    """Plan and time, pipeline by pipeline.

    Schedules are made for this machine and as many cores as there are threads. Agents that found the same schedule
    share its timing.

    Args:
        threads: to run on.
        on_step: called with a text when a step begins; there are `num_steps`.
    """
    for case in CASES:
        problem = run_isolated(_problem, case.pipeline, threads)
        timings: dict[str, Timing] = {}
        for name, agent in agents(case.beam_size).items():
            on_step(f"{case.pipeline}: {name}")
            plan = agent.plan(problem)
            on_step(f"{case.pipeline}: timing {name}")
            source = plan.schedule.cpp()
            if source not in timings:
                timings[source] = time_schedule(problem, plan.schedule, threads=threads, time_limit_s=1.0)
            yield Entry(case.pipeline, name, plan, timings[source])


def num_steps() -> int:
    """Return how often `run_demo` reports a step."""
    return 2 * sum(len(agents(case.beam_size)) for case in CASES)


def usable_threads() -> int:
    """Return two, or one where there is just one core."""
    return min(2, len(os.sched_getaffinity(0)))


def _problem(name: str, parallelism: int) -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines.build(name), parallelism=parallelism, name=name)
