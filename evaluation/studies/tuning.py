"""What tuning by run time gives: against Halide's default autoscheduler, and against as many careless draws."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from halidegym.agents.budget import Budget
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.proposals import Proposal, careless_descents, proposal_of
from halidegym.agents.reference import Adams2019, AutoschedulerFailed
from halidegym.agents.tuner.autotune import Autotune
from halidegym.agents.tuner.plan import TunedPlan
from halidegym.agents.tuner.racing import SETTINGS, tuning_timer
from halidegym.agents.tuner.run import Run, Sizes
from halidegym.agents.tuner.trials import Trials
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.timing.measurements import Comparison, TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.timers import RecordingTimer

_REFERENCE_TIMEOUT_S, _LONG_COMPILATION_S = 40.0, 300.0

EXPERTS = {
    "harris": 4.79 / 3.17,
    "hist": 10.8 / 3.04,
    "unsharp": 10.1 / 4.72,
    "camera_pipe": 9.24 / 5.05,
    "interpolate": 40.4 / 9.67,
    "bilateral_grid": 24.4 / 18.0,
    "iir_blur": 47.2 / 24.1,
    "stencil_chain": 29.9 / 31.1,
    "bgu": 51.9 / 44.5,
    "conv_layer": 57.7 / 55.1,
    "local_laplacian": 280 / 86.7,
    "max_filter": 295 / 103,
    "nl_means": 186 / 279,
}
"""How many times as fast as Adams2019's the schedules of experts are, on another machine of two cores
(docs/specification/papers.md, section 2)."""


@dataclass(frozen=True)
class TunedAndDrawn:
    """Schedules of one pipeline, all timed in turns in the end.

    Attributes:
        tuned: the plan of `Autotune`.
        tuned_to_default: how many times as fast as Halide's default it is.
        drawn_to_default: the same of the fastest of as many careless draws; None if none were measured.
        tuned_to_drawn: how many times as fast as that one the tuned schedule is; None likewise.
        is_default_ours: whether the default is what our equal search finds, because the plugin takes too long.
    """

    tuned: TunedPlan
    tuned_to_default: Comparison
    drawn_to_default: Comparison | None
    tuned_to_drawn: Comparison | None
    is_default_ours: bool


class CarelessDraws:
    """Proposes careless descents for the problem's number of cores, and learns nothing."""

    def __init__(self, problem: SchedulingProblem, seed: int) -> None:
        self._draws: Iterator[Proposal] = careless_descents(Rules().space(problem), seed)

    def first(self, trials: Trials, count: int) -> list[Proposal]:
        """Return some."""
        found: dict[str, Proposal] = {}
        for proposal in itertools.islice(self._draws, 20 * count):
            if trials.is_new(proposal):
                found.setdefault(proposal.state.dump(), proposal)
            if len(found) == count:
                break
        return list(found.values())

    more = first


def tuned_and_drawn(
    problem: SchedulingProblem,
    *,
    seconds: float,
    seed: int = 0,
    settings: TimingSettings = SETTINGS,
    agent: Autotune,
    draws: bool = True,
) -> TunedAndDrawn:
    """Tune for some seconds, measure as many careless draws in the same way, unless told not to, and compare the winners.

    Raises:
        Error: the pipeline cannot be timed.
    """
    with tuning_timer(settings=settings) as timer:
        tuned = agent.plan(problem, seconds=seconds, seed=seed, timer=timer, progress=True)
        assert isinstance(tuned, TunedPlan)
        drawn = _fastest_draw(problem, max(tuned.measurements or 0, 1), seed, timer, agent) if draws else None
    default, is_ours = _default(problem)
    # Nothing is answered from the record here: it knows some of these pairs by few turns. A default may take minutes to
    # compile, of which a search that tries many schedules gives none that many.
    with Stopwatch(dataclasses.replace(settings, compile_timeout_s=_LONG_COMPILATION_S)) as stopwatch:
        if drawn is None:
            (to_default,) = _compare(stopwatch, problem, [tuned.schedule], default)
            return TunedAndDrawn(tuned, to_default, None, None, is_ours)
        to_default, drawn_to_default = _compare(stopwatch, problem, [tuned.schedule, drawn], default)
        (to_drawn,) = _compare(stopwatch, problem, [tuned.schedule], drawn)
    return TunedAndDrawn(tuned, to_default, drawn_to_default, to_drawn, is_ours)


def _fastest_draw(
    problem: SchedulingProblem, count: int, seed: int, timer: RecordingTimer, agent: Autotune
) -> Schedule:
    baseline = proposal_of("adams2019", Rules().space(problem), BeamSearch().plan(problem).actions)
    sizes = Sizes(agent.batch, agent.batch, agent.batch, agent.finalists)
    run = Run(problem, baseline, sizes, Budget(measurements=count), 0.0, timer, None)
    run.measure(CarelessDraws(problem, seed), seed)
    ranking = [entry for entry in run.ranking() if entry.proposal is not baseline]
    return Schedule.from_state(problem, ranking[0].proposal.state if ranking else baseline.state)


def _default(problem: SchedulingProblem) -> tuple[ScheduleLike, bool]:
    """Halide's own schedule, or ours, which is equal where both were run, if Halide takes too long."""
    try:
        return Adams2019().plan(problem, seconds=_REFERENCE_TIMEOUT_S).schedule, False
    except AutoschedulerFailed:
        return BeamSearch().plan(problem).schedule, True


def _compare(
    stopwatch: Stopwatch, problem: SchedulingProblem, schedules: Sequence[ScheduleLike], baseline: ScheduleLike
) -> list[Comparison]:
    by_work = stopwatch.threads_for(problem) == 1
    return stopwatch.compare_all(problem, schedules, baseline, by_work=by_work)
