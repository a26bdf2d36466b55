"""What measuring candidates gives: the best by time of several schedules against the beam's winner by cost.

ProTuner (Haj-Ali et al. 2020) repeats searches with new seeds and lets the run time decide among their schedules. Candidates
that were scheduled for other numbers of cores than the machine has widen the choice
(docs/specification/papers.md, section 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halidegym.agents.iterated import IteratedSearch
from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.measurements import Comparison
from halidegym.envs.timing.timers import Timer, opened

#: Short to search, and runnable with their published estimates.
PIPELINES: Sequence[str] = ("harris", "hist", "unsharp", "iir_blur", "mat_mul", "max_filter")

_DROPOUT = 30  # of the beams for candidates, a percentage as `BeamSearch` has it


@dataclass(frozen=True)
class Choice:
    """The schedule that a search chose by run time, timed in turns with the beam's winner.

    Attributes:
        parallelisms: the numbers of cores that candidates were scheduled for.
        plan: of the search.
        comparison: with the beam's winner by cost; `ratio` is how many times faster the choice is.
    """

    parallelisms: tuple[int, ...]
    plan: Plan
    comparison: Comparison


def choose_by_time(
    problem: SchedulingProblem,
    *,
    parallelisms: Sequence[int] = (16,),
    candidates: int = 12,
    beam_size: int = 32,
    timer: Timer | None = None,
) -> list[Choice]:
    """Let run times decide among candidates, first for the problem's number of cores only, then for others as well.

    Both choices are among equally many candidates, each the result of a beam search with dropout.

    Args:
        problem: its parallelism is the number of threads to run on.
        parallelisms: numbers of cores to schedule for, besides the problem's.
        candidates: how many to search and to time.
        beam_size: of the beams.
        timer: where run times come from; None to measure on this machine and record nothing.

    Returns:
        Two choices, compared with the beam without dropout for the problem's number of cores.

    Raises:
        InvalidParameter: a number is out of its range.
        Error: schedules of the problem cannot be timed.
    """
    beam = BeamSearch(beam_size=beam_size, passes=5).plan(problem)
    beams = BeamSearch(beam_size=beam_size, passes=5, random_dropout=_DROPOUT)
    choices = []
    with opened(timer) as clock:
        for cores in ((problem.parallelism,), (problem.parallelism, *parallelisms)):
            search = IteratedSearch(beams, rounds=candidates, measured=candidates, parallelisms=cores)
            plan = search.plan(problem, timer=clock)
            choices.append(Choice(cores, plan, clock.compare(problem, plan.schedule, beam.schedule)))
    return choices
