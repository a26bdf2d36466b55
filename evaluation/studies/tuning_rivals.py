"""What tuning by run time has to beat: careless draws, and Halide's own tuning recipe. Neither learns anything."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from halidegym.agents.budget import Budget
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.proposals import Proposal, beam_winners, careless_descents, dropout_descents, proposal_of
from halidegym.agents.tuner.autotune import Autotune
from halidegym.agents.tuner.run import Run, Sizes
from halidegym.agents.tuner.trials import Trials
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.timers import Timer
from halidegym.native._core import Space

Rival: TypeAlias = Literal["draws", "recipe"]
"""As many careless draws as the tuner measured, or Halide's own recipe for as many seconds."""

_HALIDES_DROPOUT = 1
_ATTEMPTS = 20  # for each proposal wanted


class Endless:
    """A source of a tuning run that proposes what it is given, and learns nothing.

    Args:
        proposals: in the order to measure them in; those that were measured are left out.
    """

    def __init__(self, proposals: Iterator[Proposal]) -> None:
        self._proposals = proposals

    def first(self, trials: Trials, count: int) -> list[Proposal]:
        """Return the next ones, up to `count`."""
        return trials.new_of(self._proposals, count, _ATTEMPTS)

    more = first


def halides_recipe(space: Space, seed: int = 0) -> Iterator[Proposal]:
    """What Halide's `adams2019_autotune_loop.sh` measures: its beam's schedule, then greedy searches with dropout.

    Without the retraining between its batches, and for the problem's own number of cores, not for 32.
    """
    yield from itertools.islice(beam_winners(space, widths=(32,), passes=None), 1)
    yield from dropout_descents(space, seed, dropouts=(_HALIDES_DROPOUT,))


_SOURCES: dict[Rival, Callable[[Space, int], Iterator[Proposal]]] = {
    "draws": careless_descents,
    "recipe": halides_recipe,
}


def fastest_of(
    rival: Rival, problem: SchedulingProblem, budget: Budget, *, seed: int, timer: Timer, agent: Autotune
) -> tuple[Schedule, int]:
    """The fastest schedule that a rival finds, measured as the tuner measures, and how many were measured.

    Args:
        rival: where schedules come from.
        problem: to schedule.
        budget: of seconds or measurements.
        seed: of the random numbers.
        timer: where run times come from.
        agent: whose sizes of batches and of the last comparison are used.
    """
    begin = time.perf_counter()
    space = Rules().space(problem)
    proposals = _SOURCES[rival](space, seed)
    # Halide's recipe begins with the very schedule that all others are compared with, so it may end with it, too.
    has_baseline = rival == "recipe"
    baseline = next(proposals) if has_baseline else proposal_of("adams2019", space, BeamSearch().plan(problem).actions)
    sizes = Sizes(agent.batch, agent.batch, agent.batch, agent.finalists)
    run = Run(problem, baseline, sizes, budget, begin, timer, None, space.weights)
    run.measure(Endless(proposals), seed)
    found = [entry.proposal for entry in run.ranking() if has_baseline or entry.proposal is not baseline]
    return Schedule.from_state(problem, (found or [baseline])[0].state), run.measured + has_baseline
