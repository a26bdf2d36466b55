"""Running one of the ``halide`` package's own autoschedulers in a fresh process."""

from __future__ import annotations

import importlib.util
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from halidegym.native._core import Error

_WORKER = Path(__file__).with_name("worker.py")

# What the plugins read besides their parameters: a user's own settings must not change the baseline.
_PLUGIN_VARIABLES = frozenset(
    {"HL_DEBUG_AUTOSCHEDULE", "HL_DEBUG_CODEGEN", "HL_NUM_PASSES", "HL_NUM_THREADS", "HL_RANDOMIZE_WEIGHTS"}
)


class AutoschedulerFailed(Error):  # noqa: N818 - says what happened, as subprocess.TimeoutExpired does
    """An autoscheduler plugin refused a pipeline, crashed, or took too long; the message has its last words."""


@dataclass(frozen=True)
class AutoschedulerRun:
    """What a plugin left behind.

    Attributes:
        schedule_source: the schedule as C++ source.
        scheduled: the pipeline with the schedule applied, serialized without its parameters.
        featurization: the record of docs/specification/search-and-cost-model.md, section 4.3; empty unless the
            autoscheduler writes one.
        seconds: wall-clock time of ``apply_autoscheduler`` alone.
        cpu_seconds: CPU time of the same, all threads together.
        peak_memory_bytes: growth of the process's resident memory during the same, at its peak.
        log: the error stream.
    """

    schedule_source: str
    scheduled: bytes
    featurization: bytes
    seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
    log: str


def plugin_path(autoscheduler: str) -> Path:
    """Return the shared library of an autoscheduler, e.g. ``"Adams2019"``, in the installed ``halide`` package.

    Raises:
        AutoschedulerFailed: there is none.
    """
    spec = importlib.util.find_spec("halide")
    assert spec is not None and spec.origin is not None, "our extension cannot be imported without the halide package"
    path = Path(spec.origin).parent / "lib64" / f"libautoschedule_{autoscheduler.lower()}.so"
    if not path.is_file():
        raise AutoschedulerFailed(f"The halide package has no autoscheduler {autoscheduler}: no file {path}.")
    return path


def run_autoscheduler(
    pipeline: Callable[[], Any],
    *,
    autoscheduler: str,
    target: str,
    parameters: Mapping[str, str],
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> AutoschedulerRun:
    """Run an autoscheduler plugin in a fresh process.

    Args:
        pipeline: makes the ``hl.Pipeline`` in that process; must be picklable.
        autoscheduler: ``"Adams2019"``, ``"Mullapudi2016"`` or ``"Li2018"``.
        target: Halide target string.
        parameters: of the plugin. It ends its process if there is an unknown key or an unparsable value.
        environment: variables to set for the process, besides the current ones. Those that steer the plugins are only
            taken from here.
        timeout: seconds after which the process is killed.

    Raises:
        AutoschedulerFailed: the plugin rejected the pipeline, its process died, or the time ran out.
    """
    request = {
        "sys_path": sys.path,
        "pipeline": pickle.dumps(pipeline),
        "plugin": str(plugin_path(autoscheduler)),
        "autoscheduler": autoscheduler,
        "target": target,
        "parameters": dict(parameters),
    }
    subject = f"{autoscheduler} for {target} with {dict(parameters)}"
    inherited = {name: value for name, value in os.environ.items() if name not in _PLUGIN_VARIABLES}
    with tempfile.TemporaryDirectory(prefix="halidegym-") as name:
        folder = Path(name)
        request_file, result_file = folder / "request", folder / "result"
        request_file.write_bytes(pickle.dumps(request))
        with (folder / "output").open("w+b") as output, (folder / "log").open("w+b") as log:
            try:
                # -I: the folder of the worker must not come first on the module path; the request brings the path.
                status = subprocess.run(
                    [sys.executable, "-I", _WORKER, request_file, result_file],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=log,
                    env=inherited | dict(environment or {}),
                    timeout=timeout,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                raise AutoschedulerFailed(
                    f"{subject} did not finish within {timeout:g} s. Its last words: {_last_words(output, log)}"
                ) from None
            if status != 0:
                raise AutoschedulerFailed(
                    f"The process of {subject} {_ending(status)}. Its last words: {_last_words(output, log)}"
                )
            result = pickle.loads(result_file.read_bytes())
            if "error" in result:
                reason = result["error"].removeprefix("Error:").strip()
                raise AutoschedulerFailed(f"{subject} rejected the pipeline: {reason or 'it gave no reason'}")
            return AutoschedulerRun(**result, log=_text(log))


def _ending(status: int) -> str:
    return f"died of {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode(errors="replace")


def _last_words(*streams: IO[bytes]) -> str:
    lines = [line for stream in streams for line in _text(stream).splitlines() if line.strip()]
    return "\n".join(lines[-12:]) or "(none)"
