"""What can be compiled and timed."""

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.reference_schedule import ReferenceSchedule
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import check_given, shown

ScheduleLike = Schedule | ReferenceSchedule | TrustedSchedule | None
"""A schedule of our own, of one of Halide's autoschedulers, or the trusted one; None for the pipeline as its author left
it."""


def check_schedule(problem: SchedulingProblem, schedule: object) -> None:
    """Check that this schedules what the problem computes, for whatever target and number of cores.

    Raises:
        InvalidParameter: it is no schedule, or one of another pipeline or of other sizes; or there is no problem.
    """
    check_given(SchedulingProblem, problem=problem)
    if not isinstance(schedule, ScheduleLike):
        raise InvalidParameter(
            f"schedule={shown(schedule)} is a {type(schedule).__name__}; give a schedule, such as that of a plan, "
            "plan.schedule, or None for the pipeline as its author left it"
        )
    if schedule is None or schedule.problem is problem:
        return
    if schedule.problem.algorithm != problem.algorithm:
        raise InvalidParameter(
            f"The schedule is of {schedule.problem.name!r}, which computes something else than {problem.name!r}, or the "
            "same at other sizes; give a schedule of this problem"
        )
