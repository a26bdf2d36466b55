"""Run times of schedules as people read them, in cells of tables."""

from __future__ import annotations

import math

from halidegym.envs.timing.measurements import Comparison, Timing, milliseconds


def median_ms(timing: Timing | None) -> str:
    """The median in milliseconds, with half the range of its middle half of samples."""
    if timing is None or timing.outcome != "ok":
        return "-"
    return f"{milliseconds(timing.median_s)} ± {timing.spread * 50:.1f} %"


def least_ms(timing: Timing | None) -> str:
    """The least run time in milliseconds."""
    return "-" if timing is None or timing.outcome != "ok" else milliseconds(timing.min_s)


def speed(comparison: Comparison | None) -> str:
    """How many times as fast as another schedule, with the interval; nothing where either failed."""
    if comparison is None or math.isnan(comparison.ratio):
        return "-"
    return f"{comparison.ratio:.3f} [{comparison.low:.3f}, {comparison.high:.3f}]"


def outcome(timing: Timing | None, failure: str) -> str:
    """How the measurement went, or why there was none, in a few words."""
    if timing is None:
        return f"no schedule: {_first_line(failure)}"
    if timing.outcome != "ok":
        return f"{timing.outcome}: {_first_line(timing.error)}"
    return "disturbed" if timing.is_disturbed else "ok"


def left_out(timing: Timing | None, failure: str) -> str:
    """The reason in full, if `outcome` leaves out some of what Halide or an autoscheduler says; else nothing."""
    reason = failure
    if timing is not None:
        reason = timing.error if timing.outcome == "compile_error" else ""
    return "" if _first_line(reason) == reason.strip() else reason.strip()


def _first_line(text: str) -> str:
    lines = text.splitlines() or [""]
    return lines[0] if len(lines[0]) <= 100 else lines[0][:99] + "…"
