"""A schedule that a person wrote: a function in Python that makes scheduling calls."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import halide as hl

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.reference_schedule import ReferenceSchedule
from halidegym.envs.schedules.trusted_schedule import all_funcs
from halidegym.native._core import CompileError, InvalidParameter


@dataclasses.dataclass(frozen=True)
class ManualSchedule(ReferenceSchedule):
    """What a function in Python did to a pipeline.

    Its source tells people what that was, but not all of it: the function may read constants and close over others. What it
    did is in `scheduled`. For the rest see `ReferenceSchedule`; the `autoscheduler` is the name of the function.
    """


def manual_schedule(problem: SchedulingProblem, function: Callable[..., Any]) -> ManualSchedule:
    """The schedule that a function makes of a problem's pipeline.

    Args:
        problem: to schedule; its pipeline is copied.
        function: its parameters are what it wants of the pipeline: `pipeline` is the `halide.Pipeline` itself, other
            names are those of Funcs. Those of neither keep their defaults.

    Raises:
        InvalidParameter: a parameter is the name of no Func and has no default, or the function takes nothing that it could
            schedule.
        CompileError: Halide refuses a call.
    """
    name = getattr(function, "__name__", "manual")
    pipeline = problem.pipeline()
    # Without the suffix that keeps a name unique in a process; of equal names, the last consumer's counts.
    funcs = {f.name().partition("$")[0]: f for f in all_funcs(pipeline)}
    known = {**funcs, "pipeline": pipeline}
    parameters = inspect.signature(function).parameters
    missing = [
        each for each, parameter in parameters.items() if each not in known and parameter.default is parameter.empty
    ]
    if missing:
        raise InvalidParameter(
            f"The schedule {name} wants {missing[0]!r}, and the pipeline has no such Func: it has {', '.join(funcs)}; "
            "`pipeline` is the pipeline itself"
        )
    wanted = {each: known[each] for each in parameters if each in known}
    if not wanted:
        raise InvalidParameter(
            f"{name} is no schedule, since it takes nothing to schedule: name its parameters as Funcs of the pipeline "
            f"({', '.join(funcs)}), or `pipeline`"
        )
    try:
        function(**wanted)
        scheduled = hl.serialize_pipeline(pipeline)
    except hl.HalideError as error:
        raise CompileError(f"Halide refuses the schedule {name}: {error}") from error
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):  # typed in at a prompt, or an object that can be called
        source = ""
    return ManualSchedule(problem, name, source, "", scheduled)
