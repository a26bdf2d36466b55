"""The plugin's analyses of pipelines, all asked of one process: starting it takes longer than an analysis."""

from __future__ import annotations

import atexit
import functools
from collections.abc import Callable
from dataclasses import dataclass

import halide as hl

from halidegym.agents.reference.process import plugin_path
from halidegym.envs.processes.isolated import PythonProcess


@dataclass(frozen=True)
class Analysis:
    """What the plugin's quickest run leaves behind: its log, and the record of features."""

    log: str
    featurization: bytes


def analyse(make_pipeline: Callable[[], hl.Pipeline], target: str) -> Analysis:
    """Ask the plugin about a pipeline, which is made in its process."""
    process = _process()
    begin = len(process.words)
    featurization = process.call(_featurization, make_pipeline, target, timeout_s=120)
    return Analysis(process.words[begin:], featurization)


@functools.cache
def _process() -> PythonProcess:
    process = PythonProcess(environment={"HL_DEBUG_AUTOSCHEDULE": "2", "HL_NUM_PASSES": "1"})
    atexit.register(process.close)
    process.call(hl.load_plugin, str(plugin_path("Adams2019")))
    return process


def _featurization(make_pipeline: Callable[[], hl.Pipeline], target: str) -> bytes:
    parameters = hl.AutoschedulerParams("Adams2019", {"parallelism": "16", "beam_size": "1"})
    return bytes(make_pipeline().apply_autoscheduler(hl.Target(target), parameters).featurization)
