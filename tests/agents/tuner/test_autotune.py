"""Tuning by run times that are made up, so that what is best is known; and by real ones, recorded and repeated."""

from __future__ import annotations

import itertools
import math
import pickle
import signal
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pipelines_for_tests
from halidegym.agents import Autotune, BeamSearch
from halidegym.agents.learned.cost_models.example import example_weights
from halidegym.agents.proposals import careless_descents, proposal_of
from halidegym.agents.tuner import autotune
from halidegym.agents.tuner.features import Features
from halidegym.agents.tuner.plan import ADAMS2019, TRUSTED, TunedPlan
from halidegym.agents.tuner.racing import tuning_timer
from halidegym.envs.problems.fingerprint import fingerprint
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
from halidegym.envs.timing.stopwatch import Stopwatch
from halidegym.envs.timing.timers import RecordingTimer, Replay, Timer
from halidegym.native._core import InvalidParameter
from oracle.builder_problem import SSE_AVX2
from timers_for_tests import MadeUpTimes

SMALL = Autotune(measurements=40, batch=4, first=12, proposals=16, finalists=3, parallelisms=(2, 4))


@pytest.fixture(scope="module")
def blur() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.blur, target=SSE_AVX2, parallelism=2)


def by_splits(schedule: Schedule) -> float:
    """The fewer splits and the fewer inlined Funcs, the faster; the model of costs knows nothing of it."""
    return 1e-3 * (1 + schedule.cpp().count(".split(") + 5 / (1 + schedule.cpp().count("compute_")))


def tune(problem: SchedulingProblem, timer: Timer, agent: Autotune = SMALL, **budget: Any) -> TunedPlan:
    plan = agent.plan(problem, timer=timer, **budget)
    assert isinstance(plan, TunedPlan)
    return plan


def test_the_fastest_of_all_that_was_timed_wins(blur: SchedulingProblem) -> None:
    times: dict[str, float] = {}

    def seconds(schedule: Any) -> float:
        return times.setdefault(schedule.cpp(), by_splits(schedule))

    plan = tune(blur, MadeUpTimes(seconds))
    baseline = by_splits(BeamSearch().plan(blur).schedule)
    assert plan.run_time == min(times.values()) < baseline == plan.baseline_time
    assert plan.speedup == pytest.approx(baseline / plan.run_time)
    assert (plan.measurements, plan.ended_by, plan.baseline) == (40, "budget", ADAMS2019)
    assert [f.speedup for f in plan.finalists] == sorted((f.speedup for f in plan.finalists), reverse=True)
    assert plan.finalists[0].schedule == plan.schedule == plan.schedule_of(plan.candidates[0])
    assert plan.fingerprint.parallelism == plan.finalists[0].parallelism


def test_the_loop_beats_as_many_careless_draws() -> None:
    """What is learned from the first measurements makes the later ones better."""
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.stencil3, target=SSE_AVX2, parallelism=2)
    tuned, drawn = [], []
    for seed in range(3):
        tuned.append(tune(problem, MadeUpTimes(by_splits), seed=seed).run_time)
        draws = itertools.islice(careless_descents(Rules().space(problem), seed), 40)
        drawn.append(min(by_splits(Schedule.from_state(problem, draw.state)) for draw in draws))
    assert statistics.geometric_mean(time or math.inf for time in tuned) < 0.9 * statistics.geometric_mean(drawn)


def test_proposals_of_a_model_that_knows_the_run_times(blur: SchedulingProblem) -> None:
    pytest.importorskip("torch")
    plans = [tune(blur, MadeUpTimes(by_splits), replace(SMALL, retrain=True)) for _ in range(2)]
    assert plans[0].candidates == plans[1].candidates
    assert plans[0].candidates != tune(blur, MadeUpTimes(by_splits)).candidates
    assert plans[0].speedup > 1
    costs = {candidate.actions: candidate.cost for candidate in plans[0].candidates}
    space = SMALL.rules.space(blur.with_parallelism(plans[0].fingerprint.parallelism))
    for actions, cost in costs.items():  # of the model that the fingerprint names
        assert proposal_of("again", space, actions).cost == cost


@pytest.mark.parametrize("threads", [1, 2])
def test_unless_one_is_given_the_guide_is_the_example_for_as_many_threads(
    blur: SchedulingProblem, threads: int
) -> None:
    problem = blur.with_parallelism(threads)
    agents = [SMALL, *(replace(SMALL, guide=example_weights(number)) for number in (threads, 3 - threads))]
    found, same, other = (tune(problem, MadeUpTimes(by_splits), agent).candidates for agent in agents)
    assert found == same != other


def test_the_curve_rises_to_the_winner(blur: SchedulingProblem) -> None:
    plan = tune(blur, MadeUpTimes(by_splits))
    counts = [step.measurements for step in plan.curve]
    assert counts == sorted(counts) and counts[-1] <= 40
    assert [step.seconds for step in plan.curve] == sorted(step.seconds for step in plan.curve)


def test_no_schedule_is_timed_twice_before_the_last_comparison(blur: SchedulingProblem) -> None:
    timer = MadeUpTimes(by_splits)
    tune(blur, timer)
    screened = timer.asked[:40]
    assert len(set(screened)) == 40


def test_equal_seeds_give_equal_plans(blur: SchedulingProblem) -> None:
    plans = [tune(blur, MadeUpTimes(by_splits), seed=seed) for seed in (1, 1, 2)]
    assert plans[0].candidates == plans[1].candidates != plans[2].candidates
    assert pickle.loads(pickle.dumps(plans[0])).candidates == plans[0].candidates


def test_the_baseline_wins_if_nothing_is_faster(blur: SchedulingProblem) -> None:
    adams2019 = BeamSearch().plan(blur)
    plan = tune(blur, MadeUpTimes(lambda s: 1.0 if s.cpp() == adams2019.schedule.cpp() else 1.5), measurements=8)
    assert (plan.speedup, plan.actions, plan.finalists[0].kind) == (1.0, adams2019.actions, "adams2019")


def test_failures_are_left_behind(blur: SchedulingProblem) -> None:
    failing: dict[str, bool] = {BeamSearch().plan(blur).schedule.cpp(): False}

    def seconds(schedule: Any) -> float:
        fails = failing.setdefault(schedule.cpp(), len(failing) % 2 == 0)
        return math.inf if fails else by_splits(schedule)

    plan = tune(blur, MadeUpTimes(seconds))
    assert plan.failures == sum(failing.values()) > 10
    assert not failing[plan.schedule.cpp()]


def test_another_baseline_where_adams2019_fails(blur: SchedulingProblem) -> None:
    adams2019 = BeamSearch().plan(blur).schedule.cpp()

    def seconds(schedule: Any) -> float:
        if isinstance(schedule, TrustedSchedule):
            return 1.0
        return math.inf if schedule.cpp() == adams2019 else by_splits(schedule)

    plan = tune(blur, MadeUpTimes(seconds), measurements=8)
    assert (plan.baseline, plan.baseline_time, plan.measurements) == (TRUSTED, 1.0, 8)
    assert plan.speedup == pytest.approx(1.0 / plan.run_time) if plan.run_time else False


class FailsOnce(MadeUpTimes):
    """One schedule fails in one comparison, by its number, or in several, and in no other."""

    def __init__(self, seconds: Any, comparison: int | Sequence[int], side: str) -> None:
        super().__init__(seconds)
        self._comparisons, self._side = (comparison,) if isinstance(comparison, int) else comparison, side

    def compare(self, problem: SchedulingProblem, a: Any, b: Any, *, costs: Any = (None, None)) -> Comparison:
        comparison = super().compare(problem, a, b, costs=costs)
        if len(self.asked) not in self._comparisons:
            return comparison
        failed = Timing("crash", (), 0.0, "killed")
        a, b = (failed, comparison.b) if self._side == "a" else (comparison.a, failed)
        return Comparison(math.nan, math.nan, math.nan, a, b)


def test_a_baseline_that_fails_while_others_are_screened_is_asked_again(blur: SchedulingProblem) -> None:
    timer = FailsOnce(by_splits, comparison=1, side="b")
    plan = tune(blur, timer, measurements=16)
    assert (plan.failures, plan.measurements) == (0, 16)
    assert plan.candidates == tune(blur, MadeUpTimes(by_splits), measurements=16).candidates


def test_what_is_measured_in_vain_is_measured_all_the_same(blur: SchedulingProblem) -> None:
    """Beside a schedule that lets the baseline fail each time, a run would not end."""
    timer = FailsOnce(by_splits, comparison=(1, 1 + SMALL.batch), side="b")
    plan = tune(blur, timer, measurements=16)
    assert (plan.failures, plan.measurements) == (0, 16)
    assert len(set(timer.asked)) == 16 + 1, "and the baseline in the last comparison"


def test_who_fails_in_the_last_comparison_does_not_take_the_others_along(blur: SchedulingProblem) -> None:
    steady = MadeUpTimes(by_splits)
    whole = tune(blur, steady, measurements=16)
    assert len(whole.finalists) > 2 and whole.speedup > 1
    last = len(steady.asked)
    without_baseline = tune(blur, FailsOnce(by_splits, comparison=last, side="a"), measurements=16)
    assert (without_baseline.actions, without_baseline.speedup) == (whole.actions, pytest.approx(whole.speedup))
    assert all(math.isfinite(finalist.run_time) for finalist in without_baseline.finalists)
    without_favourite = tune(blur, FailsOnce(by_splits, comparison=last, side="b"), measurements=16)
    assert without_favourite.speedup > 1 and without_favourite.actions != whole.actions


class Blurred(MadeUpTimes):
    """Ratios have intervals: from 0.9 times what they are to 1.25 times. Each schedule asks for inputs of its own."""

    def time(self, problem: SchedulingProblem, schedule: Any, *, cost: float | None = None) -> Timing:
        timing = super().time(problem, schedule, cost=cost)
        return replace(timing, larger_inputs=schedule.cpp(), compile_s=3.0, run_s=5.0)

    def compare(self, problem: SchedulingProblem, a: Any, b: Any, *, costs: Any = (None, None)) -> Comparison:
        comparison = super().compare(problem, a, b, costs=costs)
        return replace(comparison, low=0.9 * comparison.ratio, high=1.25 * comparison.ratio)


class BlurredFailsOnce(FailsOnce, Blurred):
    """Both."""


def test_finalists_have_the_intervals_of_the_ratios_that_they_are_made_of(blur: SchedulingProblem) -> None:
    """The baseline is compared with the favourite, and the others by way of that."""
    timer = Blurred(by_splits)
    plan = tune(blur, timer, measurements=16)
    for finalist in plan.finalists:
        assert finalist.run_time == pytest.approx(by_splits(finalist.schedule))
        assert finalist.speedup == pytest.approx((plan.baseline_time or 0) / finalist.run_time)
        assert finalist.larger_inputs == finalist.schedule.cpp()
    ranges = {each.kind: (each.low / each.speedup, each.high / each.speedup) for each in plan.finalists}
    assert plan.finalists[0].kind != "adams2019" and len(plan.finalists) == SMALL.finalists + 1
    assert ranges.pop("adams2019") == (1, 1)
    of_others = (0.9 / 1.25, 1.25 / 0.9)
    found = [(each.low / each.speedup, each.high / each.speedup) for each in plan.finalists if each.kind != "adams2019"]
    assert sorted(found) == [pytest.approx(of_others)] * (SMALL.finalists - 1) + [pytest.approx((1 / 1.25, 1 / 0.9))]
    assert (plan.compile_seconds, plan.run_seconds) == (16 * 3.0, 16 * 5.0)
    assert 0 < plan.search_seconds < plan.seconds

    last = len(timer.asked)
    without_baseline = tune(blur, BlurredFailsOnce(by_splits, comparison=last, side="a"), measurements=16).finalists
    ratios = sorted((each.low / each.speedup, each.high / each.speedup) for each in without_baseline)
    screened = pytest.approx((0.9, 1.25)), pytest.approx((0.9**2, 1.25**2))
    assert ratios == [screened[1]] * (SMALL.finalists - 1) + [screened[0]]


def test_nothing_that_does_not_run_is_said_to_be_fast(blur: SchedulingProblem) -> None:
    plan = tune(blur, MadeUpTimes(lambda s: 1.0 if isinstance(s, TrustedSchedule) else math.inf), measurements=8)
    assert (plan.baseline, plan.run_time) == (TRUSTED, None) and math.isnan(plan.speedup)


class MadeUpStopwatch(Stopwatch):
    """Notes how long the compiler may take for schedules, on the clock of `time.perf_counter`: the begin and the end.

    And when the last comparison may take no more turns.
    """

    def __init__(self, compile_s: float = 0.01) -> None:
        super().__init__()
        self._compile_s = compile_s
        self.compiling: list[tuple[float, float]] = []
        self.deciding_until = math.nan
        self._times = MadeUpTimes(by_splits)

    def time_all(self, problem: SchedulingProblem, schedules: Sequence[Any]) -> list[Timing]:
        return [replace(self._times.time(problem, schedule), compile_s=self._compile_s) for schedule in schedules]

    def compare_all(self, problem: SchedulingProblem, schedules: Sequence[Any], baseline: Any, **how: Any) -> Any:
        if how.get("compile_within_s", math.inf) < math.inf:
            now = time.perf_counter()
            self.compiling.append((now, now + how["compile_within_s"]))
        self.deciding_until = time.perf_counter() + how["turns_within_s"]
        return [self._times.compare(problem, schedule, baseline) for schedule in schedules]


def test_no_schedule_keeps_the_compiler_busy_beyond_the_seconds(blur: SchedulingProblem) -> None:
    seconds, begin = 2.0, time.perf_counter()
    with MadeUpStopwatch() as stopwatch:
        plan = tune(blur, RecordingTimer(stopwatch=stopwatch), seconds=seconds)
    assert plan.measurements and stopwatch.compiling
    for now, end in stopwatch.compiling:
        assert end <= begin + 0.97 * seconds + 0.1  # the last comparison, whose turns take no time, has the rest
        assert end - now <= 0.1 * seconds + 1e-6  # longer than eight baselines take
    assert stopwatch.deciding_until == pytest.approx(begin + seconds, abs=0.1)
    with MadeUpStopwatch() as stopwatch:
        tune(blur, RecordingTimer(stopwatch=stopwatch), measurements=8)
    assert not stopwatch.compiling  # equal numbers of measurements give equal plans, on a busy machine, too


def test_who_compiles_slowly_has_time_for_it(blur: SchedulingProblem) -> None:
    with MadeUpStopwatch(compile_s=1.0) as stopwatch:
        tune(blur, RecordingTimer(stopwatch=stopwatch), seconds=60.0, measurements=SMALL.batch)
    ((now, end),) = stopwatch.compiling
    assert end - now == pytest.approx(2 * SMALL.batch * 1.0), "twice what the baseline took, for each; not 6 s"


def test_ctrl_c_ends_with_the_best_so_far(blur: SchedulingProblem) -> None:
    class Interrupted(MadeUpTimes):
        def compare(self, problem: SchedulingProblem, a: Any, b: Any, *, costs: Any = (None, None)) -> Comparison:
            if len(self.asked) == 18:
                raise KeyboardInterrupt
            return super().compare(problem, a, b, costs=costs)

    plan = tune(blur, Interrupted(by_splits))
    assert (plan.ended_by, plan.measurements) == ("interrupt", 16)
    assert plan.speedup > 1
    assert plan.finalists[0].schedule == plan.schedule


def test_ctrl_c_while_batches_are_digested_loses_none_of_them(
    blur: SchedulingProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    digested: list[Any] = []
    features = Features.__call__

    def interrupted(self: Features, proposal: Any) -> Any:
        digested.append(proposal)
        if len(digested) == 6:  # of the first batches, once there are enough of them to learn from
            raise KeyboardInterrupt
        return features(self, proposal)

    monkeypatch.setattr(Features, "__call__", interrupted)
    plan = tune(blur, MadeUpTimes(by_splits))
    assert (plan.ended_by, plan.measurements) == ("interrupt", 3 * SMALL.batch)
    assert plan.finalists[0].schedule == plan.schedule


def test_ctrl_c_while_the_plan_is_put_together_loses_nothing(
    blur: SchedulingProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return fingerprint(*arguments)

    plan = tune(blur, MadeUpTimes(by_splits))
    monkeypatch.setattr(autotune, "fingerprint", interrupted)
    again = tune(blur, MadeUpTimes(by_splits))
    assert (again.ended_by, again.schedule) == (plan.ended_by, plan.schedule)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_anything_was_timed(blur: SchedulingProblem) -> None:
    def interrupted(_: Any) -> float:
        raise KeyboardInterrupt

    plan = tune(blur, MadeUpTimes(interrupted))
    assert (plan.ended_by, plan.measurements, plan.run_time, plan.baseline_time) == ("interrupt", 0, None, None)
    assert plan.actions == BeamSearch().plan(blur).actions


def test_a_problem_with_few_schedules_ends(blur: SchedulingProblem) -> None:
    def line() -> Any:
        import halide as hl

        x, f = hl.Var("x"), hl.Func("f")
        f[x] = x
        f.set_estimate(x, 0, 16)
        return f

    problem = SchedulingProblem.from_pipeline(line, target=SSE_AVX2, parallelism=1)
    plan = tune(problem, MadeUpTimes(by_splits), measurements=1000)
    assert plan.ended_by == "finished"
    assert plan.measurements is not None and plan.measurements < 1000


def test_what_was_recorded_is_repeated_bit_for_bit(blur: SchedulingProblem, tmp_path: Path) -> None:
    settings = TimingSettings(time_limit_s=0.02, patience_s=0.01, threads=1)
    agent = Autotune(batch=2, first=2, proposals=4, finalists=2, parallelisms=(2,))
    with tuning_timer(tmp_path / "times.db", settings) as timer:
        begun = tune(blur, timer, agent, measurements=2)
        plan = tune(blur, timer, agent, measurements=4)
    assert begun.measurements == 2
    replayed = tune(blur, Replay(tmp_path / "times.db"), agent, measurements=4)
    assert replayed.candidates == plan.candidates
    assert replayed.finalists == plan.finalists
    assert (replayed.run_time, replayed.baseline_time) == (plan.run_time, plan.baseline_time)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Autotune(batch=0), "batch"),
        (lambda: Autotune(batch=8, proposals=4), "proposals"),
        (lambda: Autotune(parallelisms=()), "no number of cores"),
        (lambda: Autotune(parallelisms=(0,)), "parallelisms"),
        (lambda: Autotune(memory_limit=-1), "memory_limit"),
        (lambda: Autotune(retrain=1), "retrain"),  # type: ignore[arg-type]
        (lambda: Autotune(guide=1), "guide=1 is a int; give Weights or the path"),  # type: ignore[arg-type]
    ],
)
def test_absurd_parameters_are_refused(make: Callable[[], Autotune], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        make()


def test_other_budgets_are_refused(blur: SchedulingProblem) -> None:
    with pytest.raises(InvalidParameter, match="seconds and measurements"):
        Autotune().plan(blur, evaluations=5)
