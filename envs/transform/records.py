"""Times of plans on record, and replaying them."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from halidegym.envs.timing.database import Record, TimingDatabase, check_missing
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import Comparison, Timing, median_interval, settings_json
from halidegym.envs.timing.timers import Unrecorded
from halidegym.envs.transform.measuring import TimedPlan
from halidegym.envs.transform.plan import MAX_SIZE
from halidegym.native import _core
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import (
    check_at_least,
    check_given,
    check_kind,
    check_positive,
    check_present,
    check_seed,
    checked_integers,
    shown,
)

RULES_VERSION = 1
"""Of what a plan's text means, and of how it is timed: records of another version are of other plans."""


@dataclasses.dataclass(frozen=True)
class TransformProblemKey:
    """Which plans are on one record: of a size, from a space, with these vectors; by default those of this machine."""

    n: int
    space: str = "basic"
    lanes: tuple[int, ...] = dataclasses.field(default_factory=lambda: tuple(_core.available_lanes()))

    @classmethod
    def of(cls, n: int, space: str, lanes: Sequence[int] | None) -> TransformProblemKey:
        """Of plans with these vectors; None for those of this machine.

        Raises:
            InvalidParameter: there is no such size or space, or there are no such vectors.
        """
        check_at_least(2, MAX_SIZE, **check_present(n=n))
        lanes = _core.available_lanes() if lanes is None else checked_integers("lanes", lanes, 1)
        # Refuses what means nothing.
        smallest = _core.TransformSpace(2, space=space, lanes=lanes)  # type: ignore[arg-type]
        return cls(int(n), smallest.space, tuple(smallest.lanes))

    @property
    def digest(self) -> str:
        """Hexadecimal."""
        return self._digest()

    def digest_of(self, problem: _core.TransformProblem) -> str:
        """That of ways to do one problem of these plans, alone.

        Raises:
            InvalidParameter: `problem` is none.
        """
        check_given(_core.TransformProblem, problem=problem)
        return self._digest(str(problem))

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"transform {self.n} {self.space}"

    def _digest(self, *part: str) -> str:
        text = repr((self.n, self.space, self.lanes, RULES_VERSION, *part))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def comparison_of(timed: TimedPlan) -> Comparison:
    """A plan beside its reference, as it is put on record."""
    ratios = [theirs / own for own, theirs in zip(timed.samples_s, timed.reference_samples_s, strict=True)]
    plan, reference = (
        Timing("ok", samples, 0.0, disturbed=(False,) * len(samples), machine=this_machine(), relative_error=error)
        for samples, error in ((timed.samples_s, timed.relative_error), (timed.reference_samples_s, None))
    )
    return Comparison(statistics.median(ratios), *median_interval(ratios), plan, reference)


def recorded_cost(comparison: Comparison) -> float:
    """Microseconds of a plan: the least sample, as disturbances only add."""
    return comparison.a.min_s * 1e6


def ways_settings(rounds: int, sample_s: float, seed: int) -> str:
    """How ways to do a problem were timed, as text; measurements of another seed are others.

    Raises:
        InvalidParameter: a number is none, or out of its range.
    """
    check_at_least(1, **check_present(rounds=rounds))
    check_positive(**check_present(sample_s=sample_s))
    return settings_json({"rounds": rounds, "sample_s": sample_s, "seed": check_seed(seed)})


def texts_of(plans: Iterable[str]) -> list[str]:
    """Return plans as a list, if they are texts.

    Raises:
        InvalidParameter: they are something else, or a single text.
    """
    if isinstance(plans, str) or not isinstance(plans, Iterable):
        raise InvalidParameter(f"plans={shown(plans)} is no list; give a list of plans, even of one")
    texts = list(plans)
    for plan in texts:
        check_given(str, plan=plan)
    return texts


class TransformReplay:
    """Answers from a record, without a clock: equal questions get equal answers, bit for bit.

    Args:
        n: size of the transforms.
        database: the record, or its path. It is read once, and may be closed then.
        space: that the plans are from.
        lanes: of this space, as they were recorded; None for those of this machine.
        machine: fingerprint of the machine; None for the only one on record.
        missing: what to do for a plan that is not on record: raise an error, or ask the model.
        model: microseconds of a plan, for `missing="cost_model"`.

    Raises:
        InvalidParameter: there are records of several machines, and none was chosen; there is no model to ask; or an
            argument is something else.
        DatabaseError: the database cannot be opened.
        FormatError: it is something else, or damaged.
    """

    def __init__(
        self,
        n: int,
        database: TimingDatabase | str | os.PathLike[str],
        *,
        space: str = "basic",
        lanes: Sequence[int] | None = None,
        machine: str | None = None,
        missing: Literal["error", "cost_model"] = "error",
        model: Callable[[str], float] | None = None,
    ) -> None:
        check_missing(missing)
        if missing == "cost_model" and not callable(model):
            raise InvalidParameter(
                f"missing={missing!r} needs a model, and model={shown(model)} is none; give a function of a plan's text"
            )
        self.key = TransformProblemKey.of(n, space, lanes)
        self._model = model if missing == "cost_model" else None
        if isinstance(database, str | os.PathLike):
            with TimingDatabase(database, read_only=True) as opened:
                self._read(opened, machine)
        else:
            self._read(database, machine)

    def __repr__(self) -> str:
        """What it is, in a line."""
        known = f"{len(self._plans)} plans, {len(self._ways)} ways, machine={self._machine!r}"
        return f"TransformReplay({self.key.name!r}, {str(self._path)!r}, {known})"

    def _read(self, database: TimingDatabase, machine: str | None) -> None:
        check_given(TimingDatabase, database=database)
        check_kind(str, machine=machine)
        database.checked_machines(machine)
        self._path = database.path
        records = list(database.records())
        # Who tuned by dynamic programming recorded ways to do parts of the transform, and no plan.
        machines = sorted({record.key.machine for record in records if self._is_meant(record)})
        if machine is None and len(machines) > 1:
            raise InvalidParameter(
                f"{database.path} has times of the machines {', '.join(machines)}. Choose one: machine=..."
            )
        self._machine = machine or "".join(machines)
        self._plans: dict[str, Comparison] = {}
        self._ways: dict[tuple[str, str, str], Timing] = {}
        for record in records:
            key, result = record.key, record.result
            if key.machine != self._machine:
                continue
            if isinstance(result, Timing):
                self._ways[key.problem, key.schedule, key.settings] = result
            elif key.problem == self.key.digest:
                self._plans[key.schedule] = result

    def _is_meant(self, record: Record) -> bool:
        return record.key.problem == self.key.digest or record.problem_name.startswith(f"{self.key.name}: ")

    @property
    def recorded(self) -> dict[str, float]:
        """Microseconds of each plan on record."""
        return {plan: recorded_cost(comparison) for plan, comparison in self._plans.items()}

    def cost(self, plan: str) -> float:
        """Microseconds on record.

        Raises:
            Unrecorded: there are none, and no model either.
            InvalidParameter: the plan is no text.
        """
        known = self.comparison(plan)
        if known is not None:
            return recorded_cost(known)
        assert self._model is not None
        return self._model(plan)

    def costs(self, plans: Sequence[str]) -> list[float]:
        """Those of several plans; see `cost`."""
        return [self.cost(plan) for plan in texts_of(plans)]

    def comparison(self, plan: str) -> Comparison | None:
        """A plan beside its reference, as recorded; None if the model stands for it.

        Raises:
            Unrecorded: there is none, and no model either.
            InvalidParameter: the plan is no text.
        """
        check_given(str, plan=plan)
        known = self._plans.get(plan)
        if known is None and self._model is None:
            raise Unrecorded(
                f"{self._path} has no time of the plan {plan!r} of {self.key.n} elements on the machine "
                f"{self._machine or '(none)'} with lanes={self.key.lanes}. Give the lanes that were recorded, record it "
                'with a TransformTimer, or use missing="cost_model".'
            )
        return known

    def race_ways(
        self, problem: _core.TransformProblem, ways: Sequence[str], *, rounds: int, sample_s: float, seed: int = 0
    ) -> list[list[float]]:
        """Microseconds on record of ways to do a problem alone, in each round.

        Raises:
            Unrecorded: one is not on record, timed like this. No model stands for it.
            InvalidParameter: an argument is something else.
        """
        digest, settings = self.key.digest_of(problem), ways_settings(rounds, sample_s, seed)
        rows = []
        for way in texts_of(ways):
            known = self._ways.get((digest, way, settings))
            if known is None:
                raise Unrecorded(
                    f"{self._path} has no time of {way!r} for the problem {problem} of {self.key.n} elements, "
                    f"timed with {settings}. Record it by DynamicProgramming(timer=TransformTimer(...))."
                )
            rows.append([seconds * 1e6 for seconds in known.samples_s])
        return rows

    def close(self) -> None:
        """Nothing to let go of."""
