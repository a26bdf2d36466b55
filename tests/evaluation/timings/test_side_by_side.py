"""Rows of schedules that took turns."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any, cast

from rich.console import Console

from halidegym.envs.timing.measurements import Comparison, Timing
from halidegym.envs.timing.timers import RecordingTimer
from halidegym.evaluation.arguments.schedule import Contender
from halidegym.evaluation.timings.side_by_side import Row, notes, rows_table, side_by_side

SECONDS = {"slow": 2.0, "fast": 1.0}


class Clock:
    """Knows how long schedules take, which are their names; the others fail."""

    def time(self, _problem: object, schedule: Any, **_: object) -> Timing:
        if schedule not in SECONDS:
            return Timing("crash", (), 0.0, "died")
        larger = "'image' from -1 to 9 in dimension 0, not 0 to 9" if schedule == "fast" else ""
        return Timing("ok", (SECONDS[schedule],), 0.0, disturbed=(False,), larger_inputs=larger)

    def compare_all(self, problem: object, schedules: Sequence[Any], baseline: Any, **_: object) -> list[Comparison]:
        base = self.time(problem, baseline)
        ratios = [SECONDS.get(baseline, math.nan) / SECONDS.get(schedule, math.nan) for schedule in schedules]
        return [Comparison(r, r, r, self.time(problem, s), base) for r, s in zip(ratios, schedules, strict=True)]


def rows_of(*names: str) -> list[Row]:
    contenders = [Contender(name, cast(Any, name), None) for name in names]
    return side_by_side(cast(Any, None), contenders, cast(RecordingTimer, Clock()))


def text_of(rows: Sequence[Row]) -> str:
    file = io.StringIO()
    Console(file=file, width=200).print(rows_table("title", rows))
    return file.getvalue()


def ratios(rows: Sequence[Row]) -> list[float | None]:
    return [None if row.comparison is None else row.comparison.ratio for row in rows]


def test_speeds_are_relative_to_the_first_one() -> None:
    rows = rows_of("slow", "fast", "broken")
    assert ratios(rows)[:2] == [None, 2.0] and math.isnan(ratios(rows)[2] or 0.0)
    assert "Speed is relative to slow" in text_of(rows)


def test_if_that_fails_to_the_first_one_that_runs() -> None:
    rows = rows_of("broken", "slow", "fast")
    assert rows[0].timing is not None and rows[0].timing.outcome == "crash"
    assert ratios(rows)[1:] == [None, 2.0]
    assert "Speed is relative to slow" in text_of(rows)
    alone = rows_of("broken", "fast", "wrong")
    assert ratios(alone)[1] is None and "Speed is relative to fast" in text_of(alone)
    nothing = rows_of("broken", "wrong")
    assert "Speed is relative" not in text_of(nothing) and text_of(nothing).count("crash: died") == 2


def test_what_is_no_schedule_and_what_has_failed_is_not_timed_again() -> None:
    class Asked(Clock):
        def compare_all(
            self, problem: object, schedules: Sequence[Any], baseline: Any, **how: object
        ) -> list[Comparison]:
            asked.append((baseline, *schedules))
            return super().compare_all(problem, schedules, baseline, **how)

    asked: list[tuple[str, ...]] = []
    none = Contender("none", cast(Any, None), None, failure="Rejected")
    contenders = [none, *(Contender(name, cast(Any, name), None) for name in ("broken", "wrong", "slow", "fast"))]
    rows = side_by_side(cast(Any, None), contenders, cast(RecordingTimer, Asked()))
    assert asked == [("broken", "wrong", "slow", "fast"), ("slow", "fast")]
    assert [row.timing and row.timing.outcome for row in rows] == [None, "crash", "crash", "ok", "ok"]
    assert [row.is_base for row in rows] == [False, False, False, True, False]


def test_few_rounds_have_a_range_and_no_interval() -> None:
    def caption(rounds: int) -> str:
        return str(rows_table("title", rows_of("slow", "fast"), rounds=rounds).caption)

    assert caption(6) == "Speed is relative to slow, with an interval of 95 %."
    assert caption(5) == "Speed is relative to slow, with the range of the rounds."


def test_larger_inputs_are_told_of() -> None:
    assert notes(rows_of("slow", "broken")) == []
    assert notes(rows_of("slow", "fast")) == [
        "fast asks for more of the inputs than the pipeline itself: 'image' from -1 to 9 in dimension 0, not 0 to 9. "
        "It does not run on less."
    ]


def test_why_a_schedule_computes_something_else_is_told() -> None:
    def said(larger: str) -> list[str]:
        timing = Timing("wrong_output", (), 0.0, "2 points differ", larger_inputs=larger)
        return notes([Row(Contender("wrong", cast(Any, "wrong"), None), timing)])

    assert said("'image' from -1") == [
        "wrong asks for more of the inputs than the pipeline itself ('image' from -1), and what is computed depends on "
        "their sizes, as with mirror_image."
    ]
    assert "Halide 21 compiles some schedules wrongly" in said("")[0]


def test_what_does_not_fit_into_a_row_is_told_below_the_table() -> None:
    halide_says = 'Error: Func "s" is computed at an invalid location:\n  s.compute_at(o, q);\nLegal locations:\n  ...'
    rows = [
        Row(Contender("mine", cast(Any, "mine"), None), Timing("compile_error", (), 0.0, f"{halide_says}\n")),
        Row(Contender("short", cast(Any, "short"), None), Timing("compile_error", (), 0.0, "Error: No.\n")),
        Row(Contender("theirs", cast(Any, None), None, failure="Rejected: " + "x" * 100)),
    ]
    assert notes(rows) == [f"mine fails: {halide_says}", f"theirs fails: Rejected: {'x' * 100}"]
    assert "Legal" not in text_of(rows) and "compile_error: Error: No." in text_of(rows)
