"""Running one of the ``halide`` package's own autoschedulers in a fresh process."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import halide as hl

from halidegym.envs.processes.confined import Finished, ProcessEnded
from halidegym.envs.processes.isolated import PythonProcess
from halidegym.envs.processes.resources import LONGEST_S, measure, memory_limit
from halidegym.native._core import Error

# What the plugins read besides their parameters: a user's own settings must not change the baseline.
_PLUGIN_VARIABLES = frozenset(
    {"HL_DEBUG_AUTOSCHEDULE", "HL_DEBUG_CODEGEN", "HL_NUM_PASSES", "HL_NUM_THREADS", "HL_RANDOMIZE_WEIGHTS"}
)

# The plugins do not look at what they are given, and the kernel ends a process if the machine itself has no more.
_ENDINGS_FOR_WANT_OF_MEMORY = ("died of SIGSEGV", "died of SIGKILL")


class AutoschedulerFailed(Error):  # noqa: N818 - says what happened, as subprocess.TimeoutExpired does
    """An autoscheduler plugin refused a pipeline, crashed, or took too much time or memory.

    The message has its last words.
    """


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
    memory_bytes: int | None = None,
) -> AutoschedulerRun:
    """Run an autoscheduler plugin in a fresh process, because it ends its process on a bad parameter, schedules the
    pipeline in place, and reads its log level only once.

    Args:
        pipeline: makes the ``hl.Pipeline`` in that process; must be picklable.
        autoscheduler: ``"Adams2019"``, ``"Mullapudi2016"`` or ``"Li2018"``.
        target: Halide target string.
        parameters: of the plugin. It ends its process if there is an unknown key or an unparsable value.
        environment: variables to set for the process, besides the current ones. Those that steer the plugins are only
            taken from here.
        timeout: seconds after which the process is killed; None for a day.
        memory_bytes: address space that the process may have; None for most of the memory of this machine.

    Raises:
        AutoschedulerFailed: the plugin rejected the pipeline, its process died, or time or memory ran out.
    """
    timeout = LONGEST_S if timeout is None else timeout
    memory_bytes = memory_limit(memory_bytes)
    variables = dict.fromkeys(_PLUGIN_VARIABLES) | dict(environment or {})
    subject = f"{autoscheduler} for {target} with {dict(parameters)}"
    job = pipeline, str(plugin_path(autoscheduler)), target, autoscheduler, dict(parameters)
    with PythonProcess(memory_bytes=memory_bytes, environment=variables, forked=False) as process:
        try:
            result = process.call(_schedule, *job, timeout_s=timeout)
        except ProcessEnded as ended:
            raise AutoschedulerFailed(_reason(subject, ended.finished, timeout, memory_bytes)) from None
        process.finish(timeout)
        if isinstance(result, str):
            reason = result.removeprefix("Error:").strip()
            raise AutoschedulerFailed(f"{subject} rejected the pipeline: {reason or 'it gave no reason'}")
        return AutoschedulerRun(**result, log=process.words)


def _reason(subject: str, finished: Finished, timeout: float, memory_bytes: int) -> str:
    remedy = (
        f"its process may have {memory_bytes / 2**30:.3g} GiB of address space. Give it more with memory_bytes, or less to "
        "search: a smaller beam or pipeline."
    )
    if finished.outcome == "timeout":
        what = f"{subject} did not finish within {timeout:g} s."
    elif finished.outcome == "out_of_memory":
        what = f"{subject} ran out of memory: {remedy}"
    else:
        what = f"The process of {subject} {finished.ending}."
        if finished.ending in _ENDINGS_FOR_WANT_OF_MEMORY:
            what += f" If it was for want of memory: {remedy}"
    return f"{what} Its last words: {finished.last_words or '(none)'}"


def _schedule(
    make_pipeline: Callable[[], hl.Pipeline], plugin: str, target: str, autoscheduler: str, parameters: dict[str, str]
) -> dict[str, Any] | str:
    """What happens in the process: the fields of an `AutoschedulerRun` but for the log, or why the plugin refused."""
    try:
        pipeline = make_pipeline()
        hl.load_plugin(plugin)
        arguments = hl.Target(target), hl.AutoschedulerParams(autoscheduler, parameters)
        result, resources = measure(lambda: pipeline.apply_autoscheduler(*arguments))
    except hl.HalideError as error:
        return str(error)
    return {
        "schedule_source": result.schedule_source,
        "scheduled": hl.serialize_pipeline(pipeline),
        "featurization": bytes(result.featurization),
        **vars(resources),
    }
