"""What has been measured in a tuning run, and what to measure next."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.proposals import Proposal
from halidegym.agents.tuner.surrogate import predict
from halidegym.envs.timing.measurements import Comparison

_LEARN_FROM = 12  # measurements on
_PARENTS = 0.1  # a parent that takes so much longer than the fastest is a third as likely
_SLOW = 4.0  # what takes longer than so many times the fastest, or fails, counts as if it took so long


@dataclass(frozen=True, eq=False)
class Trial:
    """A schedule that has been measured in turns with the baseline.

    Attributes:
        proposal: the schedule.
        comparison: with the baseline.
    """

    proposal: Proposal
    comparison: Comparison

    @property
    def speed(self) -> float:
        """How many times as fast as the baseline; 0 if it failed."""
        return 0.0 if math.isnan(self.comparison.ratio) else self.comparison.ratio


@dataclass(frozen=True, eq=False)
class _Measured:
    """What is known of all trials. One value, so that Ctrl-C finds all of a batch in it, or nothing.

    Attributes:
        done: the trials in order.
        features: of each.
        log_times: of each, without the noise.
    """

    done: tuple[Trial, ...] = ()
    features: tuple[NDArray[np.float64], ...] = ()
    log_times: tuple[float, ...] = ()


class Trials:
    """All trials of a run.

    Few turns on a machine that does other things as well leave much to luck, so what is measured is smoothed: the fastest
    are those that a model of all run times, which knows how similar the schedules are, takes for the fastest.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._measured = _Measured()

    @property
    def done(self) -> Sequence[Trial]:
        """The trials in order."""
        return self._measured.done

    @property
    def best(self) -> Trial | None:
        """The fastest; None before anything ran."""
        return next(iter(self.fastest(1)), None)

    def fastest(self, count: int) -> list[Trial]:
        """So many, fastest first."""
        return [self.done[index] for index in sorted(self._ran(), key=self._measured.log_times.__getitem__)[:count]]

    @property
    def best_speed(self) -> float:
        """How many times as fast as the baseline the fastest one is taken to be; 1 before anything ran."""
        return math.exp(-min(map(self._measured.log_times.__getitem__, self._ran()), default=0.0))

    def new_of(self, proposals: Iterator[Proposal], count: int, attempts: int) -> list[Proposal]:
        """Take different schedules off a stream, none of which was added or skipped.

        Args:
            proposals: the stream.
            count: how many to find.
            attempts: to make for each of them, as small problems run out of schedules.
        """
        found: dict[str, Proposal] = {}
        for proposal in itertools.islice(proposals, attempts * count):
            schedule = proposal.state.dump()
            if schedule not in self._known:
                found.setdefault(schedule, proposal)
            if len(found) == count:
                break
        return list(found.values())

    def skip(self, proposal: Proposal) -> None:
        """Take a schedule for known."""
        self._known.add(proposal.state.dump())

    def add(self, proposals: Sequence[Proposal], comparisons: Sequence[Comparison]) -> None:
        """Record measurements."""
        for proposal in proposals:
            self.skip(proposal)
        done = (*self.done, *itertools.starmap(Trial, zip(proposals, comparisons, strict=True)))
        rows = (*self._measured.features, *map(features, proposals))
        log_times = _log_times(done)
        if _can_learn(done):
            log_times = predict(np.array(rows), log_times, np.array(rows[-len(proposals) :])).known
        self._measured = _Measured(done, rows, tuple(log_times.tolist()))

    def parent(self, rng: random.Random) -> Proposal:
        """One of the fast ones, the faster the likelier.

        Raises:
            ValueError: nothing has run yet.
        """
        ran = self._ran()
        times = np.array([self._measured.log_times[index] for index in ran])
        return self.done[rng.choices(ran, np.exp((times.min() - times) / _PARENTS).tolist())[0]].proposal

    def choose(self, proposals: Sequence[Proposal], count: int, rng: np.random.Generator) -> list[Proposal]:
        """Choose different schedules to measure.

        Each is the fastest in one sample of what the run times may be, given those measured (Thompson sampling). So what is
        predicted to be fast is chosen, and what might be, and, as run times of similar schedules go together, not many of a
        kind. Before there is enough to learn from, the first ones are chosen.
        """
        if not _can_learn(self.done) or len(proposals) <= count:
            return list(proposals[:count])
        unknown = np.array([features(proposal) for proposal in proposals])
        prediction = predict(np.array(self._measured.features), _log_times(self.done), unknown)
        chosen: list[int] = []
        for sample in prediction.draws(count, rng):
            sample[chosen] = math.inf
            chosen.append(int(np.argmin(sample)))
        return [proposals[index] for index in chosen]

    def _ran(self) -> list[int]:
        return [index for index, trial in enumerate(self.done) if trial.speed > 0]


def _can_learn(done: Sequence[Trial]) -> bool:
    return sum(trial.speed > 0 for trial in done) >= _LEARN_FROM


def _log_times(done: Sequence[Trial]) -> NDArray[np.float64]:
    """As they were measured."""
    slowest = max((trial.speed for trial in done), default=1.0) / _SLOW or 1.0
    return np.array([-math.log(max(trial.speed, slowest)) for trial in done])


def features(proposal: Proposal) -> NDArray[np.float64]:
    """What the surrogate reads of a schedule, the log cost last: costs for several numbers of cores differ by these."""
    stages, rows = proposal.state.features()
    table = np.zeros((proposal.state.space.problem.num_stages, rows.shape[1]))
    table[stages] = np.log1p(np.maximum(rows, 0))
    cores = proposal.parallelism
    return np.concatenate([table.ravel(), [math.log(cores), math.log(max(proposal.cost, 1e-9) * cores)]])
