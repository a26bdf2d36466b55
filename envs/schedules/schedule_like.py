"""What can be compiled and timed."""

from halidegym.envs.schedules.reference_schedule import ReferenceSchedule
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule

ScheduleLike = Schedule | ReferenceSchedule | TrustedSchedule | None
"""A schedule of our own, of one of Halide's autoschedulers, or the trusted one; None for the pipeline as its author left
it."""
