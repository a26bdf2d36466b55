"""Recording what the Adams2019 plugin asks its cost model: every evaluated state of a search, in order."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.reference import Adams2019, ReferenceResult
from halidegym.agents.reference.autoschedulers import Problem
from halidegym.agents.reference.process import plugin_path


@dataclass(frozen=True)
class Batch:
    """States of one level that were evaluated together, at most 1024.

    Stages are in the model's order: nodes in order without inputs, within a node the last update first.
    """

    parallelism: int
    pipeline_features: NDArray[np.float32]  # [S, 7, 40]
    schedule_features: NDArray[np.float32]  # [B, S, 39]
    costs: NDArray[np.float32]  # [B]

    @property
    def num_stages(self) -> int:
        return len(self.pipeline_features)


@functools.cache
def interposer() -> Path:
    """Compile ``interpose.cpp``, once per process, into a folder that lives as long."""
    folder = Path(tempfile.mkdtemp(prefix="halidegym-interpose-"))
    atexit.register(shutil.rmtree, folder)
    library = folder / "interpose.so"
    include = plugin_path("Adams2019").parents[1] / "include"
    source = Path(__file__).with_name("interpose.cpp")
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=c++20", "-O1", "-shared", "-fPIC", "-isystem", include]
    subprocess.run([compiler, *flags, source, "-o", library, "-ldl"], check=True)
    return library


def trace_environment(trace: Path) -> dict[str, str]:
    """Return the environment in which a process that runs the plugin writes ``trace``."""
    return {
        "LD_PRELOAD": str(interposer()),
        "HALIDEGYM_PLUGIN": str(plugin_path("Adams2019")),
        "HALIDEGYM_TRACE": str(trace),
    }


def read_trace(trace: Path) -> list[Batch]:
    """Read the file that the interposer wrote; the arrays are views of a memory map."""
    data = np.memmap(trace, np.float32, mode="r")
    batches = []
    position = 0

    def take(*shape: int) -> NDArray[np.float32]:
        nonlocal position
        start, position = position, position + int(np.prod(shape))
        return data[start:position].reshape(shape)

    while position < len(data):
        stages, batch, parallelism = (int(word) for word in take(3).view(np.int32))
        batches.append(Batch(parallelism, take(stages, 7, 40), take(batch, stages, 39), take(batch)))
    return batches


def record(autoscheduler: Adams2019, problem: Problem, folder: Path) -> tuple[ReferenceResult, list[Batch]]:
    """Run the plugin on a problem and return its result and every batch it evaluated, in order."""
    trace = folder / "trace"
    result = autoscheduler.run(problem, environment=trace_environment(trace))
    return result, read_trace(trace)
