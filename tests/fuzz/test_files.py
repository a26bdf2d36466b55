"""Damaged files: none ends the process, and each is read as something that works or refused with an error of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.kinds import KINDS
from fuzz.reading import outcomes

# Halide reads each pipeline in a process of its own.
FEW = {"pipeline": 25}


@pytest.mark.parametrize("kind", KINDS)
def test_undamaged_files_work(kind: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    files = KINDS[kind](tmp_path / "empty")
    (tmp_path / f"file.{kind}").write_bytes(files.sound)
    files.use(tmp_path / f"file.{kind}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)], ids=["some", "a thousand"])
def test_damaged_files_are_refused_or_work(kind: str, count: int) -> None:
    found = list(outcomes(kind, FEW.get(kind, count) if count == 100 else count))
    failures = {f"{kind} {number}": outcome for number, outcome in enumerate(found) if outcome.startswith("FAILED")}
    assert failures == {}
    assert "FormatError" in found
