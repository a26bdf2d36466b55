"""Times of plans on record, and replaying them."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Literal

from halidegym.envs.timing.database import TimingDatabase
from halidegym.envs.timing.measurements import Timing
from halidegym.envs.timing.timers import Unrecorded
from halidegym.native import _core
from halidegym.native._core import InvalidParameter

RULES_VERSION = 1
"""Of what a plan's text means, and of how it is timed: records of another version are of other plans."""


@dataclasses.dataclass(frozen=True)
class TransformProblemKey:
    """Which plans are on one record: of a size, from a space, with vectors of this machine."""

    n: int
    space: str = "basic"
    lanes: tuple[int, ...] = dataclasses.field(default_factory=lambda: tuple(_core.available_lanes()))

    @property
    def digest(self) -> str:
        """Hexadecimal."""
        text = repr((self.n, self.space, self.lanes, RULES_VERSION))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"transform {self.n} {self.space}"


def recorded_cost(timing: Timing) -> float:
    """Microseconds."""
    return timing.median_s * 1e6


class TransformReplay:
    """Answers from a record, without a clock: equal questions get equal answers, bit for bit.

    Args:
        n: size of the transforms.
        database: the record, or its path. It is read once, and may be closed then.
        space: that the plans are from.
        lanes: of the machine that it was recorded on; None for those of this one.
        machine: fingerprint of the machine; None for the only one on record.
        missing: what to do for a plan that is not on record: raise an error, or ask the model.
        model: microseconds of a plan, for `missing="cost_model"`.

    Raises:
        InvalidParameter: there are records of several machines, and none was chosen; or there is no model to ask.
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
        if missing not in ("error", "cost_model") or (missing == "cost_model" and model is None):
            raise InvalidParameter(f'missing={missing!r}: use "error", or "cost_model" together with model=...')
        self.key = TransformProblemKey(n, space) if lanes is None else TransformProblemKey(n, space, tuple(lanes))
        self._model = model if missing == "cost_model" else None
        if isinstance(database, str | os.PathLike):
            with TimingDatabase(database, read_only=True) as opened:
                self._read(opened, machine)
        else:
            self._read(database, machine)

    def _read(self, database: TimingDatabase, machine: str | None) -> None:
        self._path = database.path
        records = [record for record in database.records() if record.key.problem == self.key.digest]
        machines = sorted({record.key.machine for record in records})
        if machine is None and len(machines) > 1:
            raise InvalidParameter(
                f"{database.path} has times of the machines {', '.join(machines)}. Choose one: machine=..."
            )
        self.recorded = {
            record.key.schedule: recorded_cost(record.result)
            for record in records
            if record.key.machine == (machine or record.key.machine) and isinstance(record.result, Timing)
        }

    def cost(self, plan: str) -> float:
        """Microseconds on record.

        Raises:
            Unrecorded: there are none, and no model either.
        """
        known = self.recorded.get(plan)
        if known is not None:
            return known
        if self._model is None:
            raise Unrecorded(
                f"{self._path} has no time of the plan {plan!r} of {self.key.n} elements. Record it with a "
                'TransformTimer, or use missing="cost_model".'
            )
        return self._model(plan)

    def costs(self, plans: Sequence[str]) -> list[float]:
        """Those of several plans; see `cost`."""
        return [self.cost(plan) for plan in plans]

    def close(self) -> None:
        """Nothing to let go of."""
