"""What run times depend on besides the schedule."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from halidegym.envs.sources import load_problem
from halidegym.envs.timing.compiler import Compiler
from halidegym.envs.timing.kernel_store import KernelStore
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import TimingSettings
from halidegym.envs.timing.timers import RecordingTimer


@pytest.fixture
def asked_anew() -> Iterator[None]:
    this_machine.cache_clear()
    yield
    this_machine.cache_clear()


@pytest.mark.usefixtures("asked_anew")
def test_what_is_compiled_with_other_arguments_of_llvm_is_another_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = load_problem("toy_blur")
    settings = TimingSettings(time_limit_s=0.05, patience_s=0.05, threads=1, verify=False)
    machines, timings = [], []
    for arguments in ("", "-disable-lsr", ""):
        monkeypatch.setenv("HL_LLVM_ARGS", arguments)
        this_machine.cache_clear()
        machines.append(this_machine().fingerprint)
        with contextlib.closing(RecordingTimer(tmp_path / "timings.db", settings)) as timer:
            timings.append(timer.time(problem, None))
        with Compiler() as compiler:
            store = KernelStore(tmp_path / "kernels")
            store.compile(compiler, problem, None, tmp_path / "kernel.so", timeout_s=60.0)
    assert [timing.outcome for timing in timings] == ["ok"] * 3
    assert timings[0] == timings[2] != timings[1]
    assert machines[0] == machines[2] != machines[1]
    reports = [json.loads(path.read_text()) for path in (tmp_path / "kernels").glob("*.json")]
    assert len({report["sha256"] for report in reports}) == 2
