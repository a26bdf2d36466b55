"""Search by run time: schedules are proposed, chosen, compiled and timed, the fastest are varied, and again."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

from halidegym.agents.agent import Agent
from halidegym.agents.budget import Budget
from halidegym.agents.interrupts import interruptible
from halidegym.agents.learned.cost_models.example import example_weights
from halidegym.agents.plan import Candidate, Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.progress import OnProgress
from halidegym.agents.proposals import Proposal, proposal_of
from halidegym.agents.reference.groups import Placement, mullapudi_groups
from halidegym.agents.tuner.plan import ADAMS2019, Finalist, TunedPlan
from halidegym.agents.tuner.progress import TuningProgress, tuning_progress
from halidegym.agents.tuner.proposer import Proposer
from halidegym.agents.tuner.racing import tuning_timer
from halidegym.agents.tuner.run import Ranked, Run, Sizes
from halidegym.envs.problems.fingerprint import fingerprint
from halidegym.envs.problems.problem import SchedulingProblem, usable_cores
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.timers import Timer
from halidegym.native._core import InvalidParameter, Weights
from halidegym.native.checks import INT32_MAX, check_at_least, check_given, check_present, checked_integers
from halidegym.native.weights import check_weights, resolve_weights

_SHARE_OF_BASELINE = 0.25  # of the seconds
_GROUPING_S, _SHARE_OF_GROUPING = 60.0, 0.1  # at most for Mullapudi2016, which takes one to four on most pipelines
_MAX_CANDIDATES = 32


@dataclass(frozen=True)
class Autotune(Agent):
    """Finds the schedule that runs fastest on this machine, by measuring.

    Adams2019's schedule is the baseline, with which all others are timed in turns, a batch at a time. The first batches are
    what searches find for several numbers of cores, and careless descents. From then on most of what is proposed varies
    the fastest so far, and a model of the run times measured so far chooses what to measure. In the end the fastest few take
    turns until it is clear which one is fastest, so that luck is not sold as speed; if none is faster than the baseline, the
    baseline is the plan's schedule.

    Equal seeds, numbers of measurements and run times give equal plans: with a `Replay` as the timer, a run repeats itself
    bit for bit, and with a `RecordingTimer` of the same database, a run that was cut off goes on where it was.

    Attributes:
        measurements: how many schedules to measure if `plan` is given neither seconds nor measurements.
        batch: how many to measure before the next ones are chosen.
        first: how many to measure before the fastest are varied.
        proposals: how many to choose each batch from; as many as `batch` to measure all.
        finalists: how many take part in the last comparison.
        guide: weights of a second cost model, or the path of a ``.weights`` file. Searches propose by either in turn, and of
            all that is proposed this one tells beforehand what may be fast. None for `example_weights`, which were learned
            from run times, for as many threads as the problem has cores; the same as `weights` for no other.
        retrain: whether the guide is fine-tuned on this pipeline's run times before each batch; needs torch.
        parallelisms: numbers of cores to schedule for; None for that of the problem, twice and eight times as many. All run
            on the problem's threads.
        subtiling, memory_limit, max_recompute: the rules of the search space; see `Rules`.
        weights: of the cost model, or the path of a ``.weights`` file; None for the pretrained ones.
    """

    measurements: int = 100
    batch: int = 8
    first: int = 24
    proposals: int = 64
    finalists: int = 4
    guide: Weights | str | Path | None = None
    retrain: bool = False
    parallelisms: tuple[int, ...] | None = None
    subtiling: bool = Rules.subtiling
    memory_limit: int | None = Rules.memory_limit
    max_recompute: float | None = Rules.max_recompute
    weights: Weights | str | Path | None = None

    def __post_init__(self) -> None:
        sizes = check_present(
            measurements=self.measurements, batch=self.batch, first=self.first, finalists=self.finalists
        )
        check_at_least(1, **sizes)
        check_at_least(self.batch, **check_present(proposals=self.proposals))
        if self.parallelisms is not None:
            cores = checked_integers("parallelisms", self.parallelisms, 1, INT32_MAX)
            if not cores:
                raise InvalidParameter("parallelisms=() leaves no number of cores; give at least one, or None")
            object.__setattr__(self, "parallelisms", cores)
        check_given(bool, retrain=self.retrain)
        _ = self.rules  # refuses what they cannot be
        check_weights(self.weights)
        check_weights(self.guide, "guide")

    def check_files(self) -> None:
        """See `Agent.check_files`."""
        resolve_weights(self.weights)
        resolve_weights(self.guide)

    def search(
        self,
        problem: SchedulingProblem,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        timer: Timer | None = None,
    ) -> TunedPlan:
        """Do what `plan` does; see `Agent.search`.

        Raises:
            InvalidParameter: there is a budget of evaluations or expansions.
            Error: the pipeline cannot be measured, because the trusted schedule fails.
        """
        if budget.evaluations is not None or budget.expansions is not None:
            raise InvalidParameter("Autotune is limited by seconds and measurements, not by evaluations or expansions")
        begin, cpu_begin = time.perf_counter(), time.process_time()
        weights, guide, rules = resolve_weights(self.weights), self._guide(problem), self.rules
        settings = {cores: problem.with_parallelism(cores) for cores in self.cores(problem)}
        found = self._baseline(problem, budget, seed, on_progress)
        baseline = proposal_of("adams2019", rules.space(problem, weights), found.actions)
        spaces = [rules.space(setting, weights) for setting in settings.values()]
        proposer = Proposer(
            spaces,
            seed,
            guide=guide,
            retrain=self.retrain,
            threads=usable_cores(),
            groups=lambda: _groups(problem, budget),
        )
        progress = on_progress if isinstance(on_progress, TuningProgress) else None
        sizes = Sizes(self.batch, self.first, self.proposals, self.finalists)
        with ExitStack() as ending:
            with tuning_timer() if timer is None else nullcontext(timer) as clock:
                run = Run(problem, baseline, sizes, self._budget(budget), begin, clock, progress, guide)
                if found.ended_by == "interrupt":
                    run.ended_by = "interrupt"
                else:
                    run.measure(proposer, seed)
                ranking = run.ranking() or [_unranked(baseline, is_baseline=run.baseline_name == ADAMS2019)]
                ending.enter_context(interruptible(None))  # there is nothing left for Ctrl-C to end, only to lose
            winner = ranking[0]
            setting = settings.get(winner.proposal.parallelism, problem)
            return TunedPlan(
                agent=repr(self),
                seed=seed,
                fingerprint=fingerprint(setting, weights),
                cost=winner.proposal.cost,
                schedule=Schedule.from_state(setting, winner.proposal.state),
                rules=rules,
                candidates=_candidates(winner.proposal, [trial.proposal for trial in run.trials.done]),
                seconds=time.perf_counter() - begin,
                cpu_seconds=time.process_time() - cpu_begin,
                ended_by=run.ended_by,
                run_time=None if math.isnan(winner.run_time) else winner.run_time,
                measurements=run.measured,
                baseline=run.baseline_name,
                baseline_time=run.baseline_time,
                finalists=tuple(
                    _finalist(entry, settings.get(entry.proposal.parallelism, problem)) for entry in ranking
                ),
                curve=tuple(run.curve),
                search_seconds=run.search_seconds,
                compile_seconds=run.compile_seconds,
                run_seconds=run.run_seconds,
                failures=sum(trial.speed == 0 for trial in run.trials.done),
            )

    def cores(self, problem: SchedulingProblem) -> tuple[int, ...]:
        """The numbers of cores that schedules are made for, the problem's first if it is one of them."""
        own = problem.parallelism
        given = (own, 2 * own, 8 * own) if self.parallelisms is None else self.parallelisms
        return tuple(sorted(set(given), key=lambda cores: (cores != own, cores)))

    @property
    def measures(self) -> bool:
        """Always."""
        return True

    @property
    def rules(self) -> Rules:
        """Of the search space."""
        return Rules(self.subtiling, self.memory_limit, self.max_recompute)

    def _guide(self, problem: SchedulingProblem) -> Weights:
        return example_weights(problem.parallelism) if self.guide is None else resolve_weights(self.guide)

    def _budget(self, budget: Budget) -> Budget:
        if budget.seconds is None and budget.measurements is None:
            return Budget(measurements=self.measurements)
        return budget

    def _baseline(self, problem: SchedulingProblem, budget: Budget, seed: int, on_progress: OnProgress | None) -> Plan:
        """Adams2019's schedule; what it has found so far, if it takes too long."""
        beam = BeamSearch(**dataclasses.asdict(self.rules), weights=self.weights, threads=usable_cores())
        seconds = None if budget.seconds is None else _SHARE_OF_BASELINE * budget.seconds
        return beam.search(problem, Budget(seconds=seconds), seed, on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return tuning_progress(f"Tuning {problem.name}", self._budget(budget))


def _groups(problem: SchedulingProblem, budget: Budget) -> Mapping[int, Placement]:
    seconds = _GROUPING_S if budget.seconds is None else min(_GROUPING_S, _SHARE_OF_GROUPING * budget.seconds)
    return mullapudi_groups(problem, seconds)


def _candidates(winner: Proposal, others: Sequence[Proposal]) -> tuple[Candidate, ...]:
    """The winner, and the others for as many cores by cost."""
    alike = {p.actions: p.cost for p in others if p.parallelism == winner.parallelism and p.actions != winner.actions}
    ordered = sorted(alike, key=lambda actions: alike[actions])
    return (Candidate(winner.cost, winner.actions), *(Candidate(alike[a], a) for a in ordered))[:_MAX_CANDIDATES]


def _unranked(baseline: Proposal, *, is_baseline: bool) -> Ranked:
    """What Adams2019's search found, if nothing else ran: as fast as itself, or of no speed if it did not run either."""
    speedup = 1.0 if is_baseline else math.nan
    return Ranked(baseline, speedup, speedup, speedup, math.nan)


def _finalist(entry: Ranked, setting: SchedulingProblem) -> Finalist:
    proposal = entry.proposal
    return Finalist(
        kind=proposal.kind,
        parallelism=proposal.parallelism,
        schedule=Schedule.from_state(setting, proposal.state),
        actions=proposal.actions,
        cost=proposal.cost,
        speedup=entry.speedup,
        low=entry.low,
        high=entry.high,
        run_time=entry.run_time,
        larger_inputs=entry.larger_inputs,
    )
