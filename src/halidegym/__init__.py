"""Gymnasium environments and planners for scheduling Halide programs.

Importing this package registers the environment ids, among them `HalideSchedule-v0`. Planners and policies are in
`halidegym.agents`, which is imported when it is first asked for.
"""

import importlib
import importlib.metadata
import sys
from typing import TYPE_CHECKING

# First, so that the extension binds to the libHalide that the `halide` module has mapped: two copies in one process
# would not recognise each other's pipelines.
import halide  # noqa: F401

from halidegym.envs import pipelines, rewards, wrappers
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.registration import register_environments
from halidegym.envs.schedules.schedule import Schedule
from halidegym.former_paths import redirect_former_paths
from halidegym.native._core import (
    CompileError,
    Error,
    FormatError,
    InternalError,
    InvalidParameter,
    MissingEstimate,
    OutOfResources,
    SearchExhausted,
    UnsupportedPipeline,
)

if TYPE_CHECKING:
    from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
    from halidegym.envs.timing.one_off import compare_schedules, time_schedule
    from halidegym.envs.timing.stopwatch import Stopwatch
    from halidegym.envs.timing.timers import RecordingTimer, Replay
else:
    # Measuring takes a compiler, child processes and a database: imported when a name of theirs is first asked for.
    _LATE = {
        "Comparison": "measurements",
        "RecordingTimer": "timers",
        "Replay": "timers",
        "Stopwatch": "stopwatch",
        "Timing": "measurements",
        "TimingSettings": "measurements",
        "compare_schedules": "one_off",
        "time_schedule": "one_off",
    }

    def __getattr__(name):
        if name == "agents":
            return importlib.import_module(f"{__name__}.agents")
        if name not in _LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"halidegym.envs.timing.{_LATE[name]}"), name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*__all__, "agents", "envs", "__version__"})


__all__ = [
    "Comparison",
    "CompileError",
    "Error",
    "FormatError",
    "InternalError",
    "InvalidParameter",
    "MissingEstimate",
    "OutOfResources",
    "RecordingTimer",
    "Replay",
    "Schedule",
    "SchedulingProblem",
    "SearchExhausted",
    "Stopwatch",
    "Timing",
    "TimingSettings",
    "UnsupportedPipeline",
    "compare_schedules",
    "pipelines",
    "rewards",
    "time_schedule",
    "wrappers",
]

__version__ = importlib.metadata.version("halidegym")

# So that what stands here can be imported from, too: `from halidegym.rewards import Reward`.
for _name, _module in {"pipelines": pipelines, "rewards": rewards, "wrappers": wrappers}.items():
    sys.modules[f"{__name__}.{_name}"] = _module

register_environments()
redirect_former_paths()
