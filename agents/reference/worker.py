"""Runs one autoscheduler plugin on one pipeline and exits: the program that ``autoscheduler_process`` starts.

A process of its own, because a plugin ends its process on a bad parameter, schedules the pipeline in place, and reads
its log level only once. It needs nothing but Halide, so that it starts quickly.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
import time
from pathlib import Path
from typing import Any


def _memory_bytes(field: str) -> int:
    """Read VmRSS or VmHWM of this process. Unlike ``ru_maxrss``, they do not start from the parent's peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no field {field}")


def _run(request: dict[str, Any]) -> dict[str, Any]:
    import halide as hl  # only the request says where it is

    pipeline = pickle.loads(request["pipeline"])()
    hl.load_plugin(request["plugin"])
    target = hl.Target(request["target"])
    parameters = hl.AutoschedulerParams(request["autoscheduler"], request["parameters"])
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # restarts VmHWM at VmRSS
    memory = _memory_bytes("VmRSS")
    seconds, cpu_seconds = time.perf_counter(), time.process_time()
    try:
        result = pipeline.apply_autoscheduler(target, parameters)
    except hl.HalideError as error:
        return {"error": str(error)}
    seconds, cpu_seconds = time.perf_counter() - seconds, time.process_time() - cpu_seconds
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "peak_memory_bytes": max(0, _memory_bytes("VmHWM") - memory),
        "schedule_source": result.schedule_source,
        "scheduled": hl.serialize_pipeline(pipeline),
        "featurization": bytes(result.featurization),
    }


def _main(request_file: str, result_file: str) -> None:
    request = pickle.loads(Path(request_file).read_bytes())
    sys.path[:] = request["sys_path"]
    Path(result_file).write_bytes(pickle.dumps(_run(request)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
