"""What is told of work that takes long, where there is no terminal."""

from __future__ import annotations

import pytest

from halidegym.evaluation.output import progress


def test_what_is_soon_over_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.steps_bar(2) as on_step:
        on_step("one")
        on_step("two")
    assert capsys.readouterr() == ("", "")


def test_a_log_has_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with progress.phases_bar() as (on_begin, on_step):
        for phase in (1, 2):
            on_begin(f"round {phase}", 3000)
            for _ in range(3000):
                now += 1 / 16
                on_step(f"round {phase} [α]")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "round 1 [α]: 960 of 3,000, 0:01:00",
        "round 1 [α]: 1,920 of 3,000, 0:02:00",
        "round 1 [α]: 2,880 of 3,000, 0:03:00",
        "round 2 [α]: 840 of 3,000, 0:00:52",
        "round 2 [α]: 1,800 of 3,000, 0:01:52",
        "round 2 [α]: 2,760 of 3,000, 0:02:52",
    ]


def test_steps_are_counted_when_they_are_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0)
    with progress.steps_bar(2) as on_step:
        on_step("harris")
        on_step("blur")
    assert capsys.readouterr().err.splitlines() == ["harris: 0 of 2, 0:00:00", "blur: 1 of 2, 0:00:00"]
