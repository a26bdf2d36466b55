"""The environments of transforms whose rewards are run times: measured on this machine, or replayed from a record."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from halidegym.envs.timing.database import TimingDatabase, check_missing
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import Comparison
from halidegym.envs.transform.costs import PlanRating, name_of
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.plan_env import TransformPlanEnv
from halidegym.envs.transform.plan_vector import TransformPlanVector
from halidegym.envs.transform.records import TransformReplay
from halidegym.envs.transform.settings import TransformTimingSettings
from halidegym.envs.transform.timer import TransformTimer
from halidegym.native._core import InvalidParameter, TransformSpace, available_lanes
from halidegym.native.checks import check_kind, shown

Environment = TypeVar("Environment", TransformPlanEnv, TransformPlanVector)


class MeasuredCosts:
    """Run times on this machine: a process a size, which times plans in turns with the model's best one.

    Args:
        database: file to record in; what is on record is not measured again.
        settings: how to time.

    Raises:
        InvalidParameter: an argument is something else.
        DatabaseError, FormatError: the file cannot be opened, or is no record.
    """

    def __init__(
        self, database: str | os.PathLike[str] | None = None, settings: TransformTimingSettings | None = None
    ) -> None:
        check_kind(TransformTimingSettings, settings=settings)
        if database is not None:
            with TimingDatabase(database):
                pass  # told of now, and not when the first plan was measured
        self._database = database
        self._settings = settings or TransformTimingSettings()
        self._timers: dict[TransformSpace, TransformTimer] = {}

    def timer(self, space: TransformSpace) -> TransformTimer:
        """What times the plans of a space."""
        if space not in self._timers:
            reference = TransformPlan(space.n, space.root().plan)
            self._timers[space] = TransformTimer(
                reference, self._settings, space=space.space, lanes=space.lanes, database=self._database
            )
        return self._timers[space]

    def baseline(self, space: TransformSpace) -> float:
        """That of the model's best plan."""
        return self.timer(space).cost(space.root().plan)

    def rate(self, space: TransformSpace, plan: str) -> PlanRating:
        """Measured, or on record."""
        timer = self.timer(space)
        return PlanRating(timer.cost(plan), _told(timer.comparison(plan)))

    def fingerprint(self, space: TransformSpace) -> str:
        """The space, the machine, and how it is timed."""
        return f"{name_of(space)}, measured on {this_machine().fingerprint}, {self._settings.to_json()}"

    def close(self) -> None:
        """End the processes, and write what is not yet on record."""
        for timer in self._timers.values():
            timer.close()
        self._timers.clear()


class ReplayedCosts:
    """Run times from a record: deterministic, and without a clock.

    Args:
        database: file that measurements were recorded in.
        machine: fingerprint of the machine that they are of; None for the only one on record.
        missing: for a plan that is not on record: "error", or "cost_model": what the model says.

    Raises:
        InvalidParameter: an argument is something else.
        DatabaseError, FormatError: there is no such file, or it is no record.
    """

    def __init__(
        self,
        database: str | os.PathLike[str],
        machine: str | None = None,
        missing: Literal["error", "cost_model"] = "error",
    ) -> None:
        check_missing(missing)
        check_kind(str, machine=machine)
        with TimingDatabase(database, read_only=True) as opened:  # told of now, and not at the end of the first episode
            opened.checked_machines(machine)
        self._database = database
        self._machine = machine
        self._missing: Literal["error", "cost_model"] = missing
        self._replays: dict[TransformSpace, TransformReplay] = {}

    def baseline(self, space: TransformSpace) -> float:
        """That of the model's best plan."""
        return self._replay(space).cost(space.root().plan)

    def rate(self, space: TransformSpace, plan: str) -> PlanRating:
        """As recorded."""
        replay = self._replay(space)
        return PlanRating(replay.cost(plan), _told(replay.comparison(plan)))

    def fingerprint(self, space: TransformSpace) -> str:
        """The space, and the record."""
        return f"{name_of(space)}, recorded in {os.fspath(self._database)}"

    def close(self) -> None:
        """Nothing is held."""

    def _replay(self, space: TransformSpace) -> TransformReplay:
        if space not in self._replays:
            self._replays[space] = TransformReplay(
                space.n,
                self._database,
                space=space.space,
                lanes=space.lanes,
                machine=self._machine,
                missing=self._missing,
                model=lambda plan: space.state(plan).model_cost,
            )
        return self._replays[space]


def _told(comparison: Comparison | None) -> dict[str, Any]:
    """What `info` has of a measurement. A wrong output is none: it is raised."""
    return {
        "comparison": comparison,
        "outcome": "ok" if comparison is None else comparison.a.outcome,
        "relative_error": None if comparison is None else comparison.a.relative_error,
    }


def make_measured(**arguments: Any) -> TransformPlanEnv:
    """Plan a Fourier transform, and learn how long it runs on this machine. Gymnasium knows it as nondeterministic.

    | Argument | Default | Meaning |
    |---|---|---|
    | `database` | none | file to record in; what is on record is not measured again |
    | `settings` | `TransformTimingSettings()` | how to time |

    The others are those of `TransformPlan-v0`, but for `costs`; `lanes` are by default those of this machine.

    | Key | When | Content |
    |---|---|---|
    | `comparison` | last step | the `Comparison` of the plan with the model's best one |
    | `outcome` | last step | `"ok"`: a wrong output is an error |
    | `relative_error` | last step | of the plan's output, against NumPy's |
    """
    return measured(TransformPlanEnv, **arguments)


def make_measured_vector(num_envs: int = 1, **arguments: Any) -> TransformPlanVector:
    """The vector of `TransformPlanHardware-v0`: plans are measured one after another."""
    return measured(functools.partial(TransformPlanVector, num_envs), **arguments)


def make_replayed(**arguments: Any) -> TransformPlanEnv:
    """Plan a Fourier transform, with run times out of a record. Deterministic, and without a clock.

    | Argument | Default | Meaning |
    |---|---|---|
    | `database` | | file that run times were recorded in |
    | `machine` | none | fingerprint of the machine that they are of; none: the only one on record |
    | `missing` | `"error"` | what to do about a plan that is not on record; or `"cost_model"`: rate it by the model |

    The others are those of `TransformPlan-v0`, but for `costs`; `lanes` must be those that were recorded, and are by
    default those of this machine. A record of another machine has those of that one, unless others were given there.

    The information has what `TransformPlanHardware-v0` adds. Of a plan that the model rates, `comparison` and
    `relative_error` are None.
    """
    return replayed(TransformPlanEnv, **arguments)


def make_replayed_vector(num_envs: int = 1, **arguments: Any) -> TransformPlanVector:
    """The vector of `TransformPlanReplay-v0`."""
    return replayed(functools.partial(TransformPlanVector, num_envs), **arguments)


def measured(
    make: Callable[..., Environment],
    *,
    database: str | os.PathLike[str] | None = None,
    settings: TransformTimingSettings | None = None,
    **environment: Any,
) -> Environment:
    """An environment whose rewards are measured on this machine.

    Args:
        make: of the environment.
        database: file to record in; what is on record is not measured again.
        settings: how to time.
        **environment: arguments of `make`; `lanes` are by default those of this machine.

    Raises:
        InvalidParameter: there are `costs` among them, or an argument is out of its range.
    """
    _check_no_costs(environment)
    return make(costs=MeasuredCosts(database, settings), **{"lanes": available_lanes(), **environment})


def replayed(
    make: Callable[..., Environment],
    *,
    database: str | os.PathLike[str],
    machine: str | None = None,
    missing: Literal["error", "cost_model"] = "error",
    **environment: Any,
) -> Environment:
    """An environment whose rewards come from a record. Deterministic.

    Args:
        make: of the environment.
        database: file that measurements were recorded in.
        machine: see `ReplayedCosts`.
        missing: likewise.
        **environment: arguments of `make`; `lanes` must be those that were recorded, by default those of this machine.

    Raises:
        InvalidParameter: there are `costs` among them, or an argument is out of its range.
    """
    _check_no_costs(environment)
    return make(costs=ReplayedCosts(database, machine, missing), **{"lanes": available_lanes(), **environment})


def _check_no_costs(environment: Mapping[str, Any]) -> None:
    """Refuse the costs that `TransformPlan-v0` takes."""
    if "costs" in environment:
        raise InvalidParameter(
            f"costs={shown(environment['costs'])}: plans cost their run times here; leave it out, or give it to "
            "TransformPlan-v0"
        )
