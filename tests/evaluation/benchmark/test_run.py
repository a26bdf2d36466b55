"""The folder of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks_for_tests import write_suite
from disks_for_tests import full_disk
from halidegym.evaluation.benchmark.run import begin, check_free
from halidegym.evaluation.benchmark.suite import load_suite


def test_a_run_that_a_full_disk_kept_from_its_beginning_begins_later(tmp_path: Path) -> None:
    suite, folder = load_suite(write_suite(tmp_path)), tmp_path / "run"
    with full_disk(), pytest.raises(OSError, match=r"File too large.*run\.json"):
        begin(folder, suite)
    check_free(folder)
    assert begin(folder, suite).suite == suite
