"""What has been measured in a tuning run, and what to measure next."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.proposals import Proposal
from halidegym.agents.tuner.features import Features
from halidegym.agents.tuner.surrogate import predict
from halidegym.envs.timing.measurements import Comparison
from halidegym.native._core import Weights
from halidegym.native.weights import resolve_weights

Attempts: TypeAlias = Iterator[Proposal | None]
"""Schedules, and None for each attempt to find one that came to nothing."""

_LEARN_FROM = 12  # measurements on
_PARENTS = 0.1  # a parent that takes so much longer than the fastest is a third as likely
_SLOW = 4.0  # what takes longer than so many times the fastest counts as if it took so long; what fails, as the slowest


@dataclass(frozen=True, eq=False)
class Trial:
    """A schedule that has been measured in turns with the baseline.

    Attributes:
        proposal: the schedule.
        comparison: with the baseline.
        read: what the surrogate reads of a schedule.
    """

    proposal: Proposal
    comparison: Comparison
    read: Features

    @property
    def speed(self) -> float:
        """How many times as fast as the baseline; 0 if it failed."""
        return 0.0 if math.isnan(self.comparison.ratio) else self.comparison.ratio

    @functools.cached_property
    def features(self) -> NDArray[np.float64]:
        """What the surrogate reads of this one."""
        return self.read(self.proposal)


@dataclass(frozen=True, eq=False)
class _Measured:
    """All trials, and what follows from them. Ctrl-C finds a batch in it or not, and never half of it.

    Attributes:
        done: the trials in order.
    """

    done: tuple[Trial, ...] = ()

    @functools.cached_property
    def features(self) -> NDArray[np.float64]:
        """Of each, in rows."""
        return np.array([trial.features for trial in self.done])

    @functools.cached_property
    def raw_log_times(self) -> NDArray[np.float64]:
        """Of each, as they were measured."""
        speeds = [trial.speed for trial in self.done if trial.speed > 0] or [1.0]
        slowest = max(min(speeds), max(speeds) / _SLOW)
        return np.array([-math.log(max(trial.speed, slowest)) for trial in self.done])

    @functools.cached_property
    def log_times(self) -> NDArray[np.float64]:
        """Of each, without the noise."""
        if not self.can_teach:
            return self.raw_log_times
        return predict(self.features, self.raw_log_times, self.features[:0]).known

    @functools.cached_property
    def ran(self) -> tuple[int, ...]:
        """Indices of those that did not fail."""
        return tuple(index for index, trial in enumerate(self.done) if trial.speed > 0)

    @property
    def can_teach(self) -> bool:
        """Whether there are enough to learn from."""
        return len(self.ran) >= _LEARN_FROM


class Trials:
    """All trials of a run.

    Few turns on a machine that does other things as well leave much to luck, so what is measured is smoothed: the fastest
    are those that a model of all run times, which knows how similar the schedules are, takes for the fastest.

    Args:
        has_time: whether to go on looking for schedules to measure.
        guide: weights of the cost model that tells beforehand which schedules are fast; None for the pretrained ones.
    """

    def __init__(self, has_time: Callable[[], bool] = lambda: True, guide: Weights | None = None) -> None:
        self._has_time = has_time
        self._read = Features(resolve_weights(guide))
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
        measured = self._measured
        return [measured.done[index] for index in sorted(measured.ran, key=measured.log_times.__getitem__)[:count]]

    @property
    def best_speed(self) -> float:
        """How many times as fast as the baseline the fastest one is taken to be; 1 before anything ran."""
        return math.exp(-min(map(self._measured.log_times.__getitem__, self._measured.ran), default=0.0))

    def new_of(self, proposals: Attempts, count: int, attempts: int) -> list[Proposal]:
        """Take different schedules off a stream, none of which was added or skipped, while there is time.

        Args:
            proposals: the stream.
            count: how many to find.
            attempts: to make for each of them, as small problems run out of schedules.
        """
        found: dict[str, Proposal] = {}
        for proposal in itertools.islice(proposals, attempts * count):
            if proposal is not None and (schedule := proposal.state.dump()) not in self._known:
                found.setdefault(schedule, proposal)
            if len(found) == count or not self._has_time():
                break
        return list(found.values())

    def skip(self, proposal: Proposal) -> None:
        """Take a schedule for known."""
        self._known.add(proposal.state.dump())

    def add(self, proposals: Sequence[Proposal], comparisons: Sequence[Comparison]) -> None:
        """Record measurements."""
        trials = (Trial(*measured, self._read) for measured in zip(proposals, comparisons, strict=True))
        self._measured = _Measured((*self.done, *trials))
        for proposal in proposals:
            self.skip(proposal)

    def parent(self, rng: random.Random) -> Proposal:
        """One of the fast ones, the faster the likelier.

        Raises:
            ValueError: nothing has run yet.
        """
        ran = self._measured.ran
        times = self._measured.log_times[list(ran)]
        return self.done[rng.choices(ran, np.exp((times.min() - times) / _PARENTS).tolist())[0]].proposal

    def choose(self, proposals: Sequence[Proposal], count: int, rng: np.random.Generator) -> list[Proposal]:
        """Choose different schedules to measure.

        Each is the fastest in one sample of what the run times may be, given those measured (Thompson sampling). So what is
        predicted to be fast is chosen, and what might be, and, as run times of similar schedules go together, not many of a
        kind. Before there is enough to learn from, the first ones are chosen.
        """
        measured = self._measured
        if not measured.can_teach or len(proposals) <= count:
            return list(proposals[:count])
        unknown = np.array([self._read(proposal) for proposal in proposals])
        chosen: list[int] = []
        for sample in predict(measured.features, measured.raw_log_times, unknown).draws(count, rng):
            sample[chosen] = math.inf
            chosen.append(int(np.argmin(sample)))
        return [proposals[index] for index in chosen]
