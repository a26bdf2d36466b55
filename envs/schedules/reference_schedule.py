"""A schedule that one of Halide's own autoschedulers made."""

from __future__ import annotations

import dataclasses
from typing import NoReturn

import halide as hl

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import shown


@dataclasses.dataclass(frozen=True)
class ReferenceSchedule:
    """How every Func of a pipeline is computed, as an autoscheduler of the ``halide`` package chose.

    Immutable and picklable.

    Attributes:
        problem: the problem that it schedules.
        autoscheduler: its name.
        source: C++ source that schedules a ``Halide::Pipeline`` named ``pipeline``.
        nest: the text of the loop nest; empty if the autoscheduler prints none.
        scheduled: the pipeline with the schedule applied, serialized without its parameters.
    """

    problem: SchedulingProblem
    autoscheduler: str
    source: str = dataclasses.field(repr=False)
    nest: str = dataclasses.field(repr=False)
    scheduled: bytes = dataclasses.field(repr=False)

    def __str__(self) -> str:
        """The loop nest, or the source if there is none."""
        return self.loop_nest() or self.source

    def cpp(self, *, function: str | None = None) -> str:
        """C++ source that schedules a `Halide::Pipeline` named `pipeline`, as the autoscheduler printed it.

        Args:
            function: None. What other schedules have here cannot be made of all that autoschedulers print.

        Raises:
            InvalidParameter: `function` is given.
        """
        if function is not None:
            raise InvalidParameter(
                f"function={shown(function)}: the source of {self.autoscheduler} is kept as it was printed, which may "
                "declare no Funcs; leave function out"
            )
        return self.source

    def loop_nest(self) -> str:
        """The loop nest as indented text, in the notation of `Schedule.loop_nest`; empty if there is none."""
        return self.nest.removeprefix("\n")

    def python(self, *, function: str | None = None) -> NoReturn:
        """Not to be had, as `Schedule.python` is: the source is kept as it was printed, and `cpp()` returns it.

        Raises:
            InvalidParameter: always.
        """
        raise InvalidParameter(
            f"The source of {self.autoscheduler} is kept as it was printed, and is not translated to Python; take cpp(), or "
            "pipeline(), a copy of the pipeline with the schedule applied"
        )

    def apply(self, pipeline: hl.Pipeline | hl.Func) -> NoReturn:
        """Not to be had, as `Schedule.apply` is: what the calls were is not known. `pipeline()` returns a scheduled copy.

        Raises:
            InvalidParameter: always.
        """
        raise InvalidParameter(
            f"The schedule of {self.autoscheduler} cannot be applied to another pipeline, because its calls are not known; "
            "take pipeline(), a copy of the problem's own with the schedule applied"
        )

    def pipeline(self) -> hl.Pipeline:
        """A fresh copy of the pipeline with the schedule applied, to be compiled or run."""
        _, parameters = hl.serialize_pipeline(self.problem.pipeline(), get_params=True)
        return hl.deserialize_pipeline(self.scheduled, parameters)
