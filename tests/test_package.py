"""The package as a whole: what importing it gives."""

import importlib
import subprocess
import sys

import gymnasium as gym
import pytest

import halidegym
from halidegym.former_paths import FORMER_PATHS


def test_public_names_exist() -> None:
    assert all(hasattr(halidegym, name) for name in halidegym.__all__)


def test_names_that_are_imported_late_look_like_the_others() -> None:
    script = """
import halidegym
assert set(halidegym.__all__) <= set(dir(halidegym))
assert set(halidegym.rewards.__all__) <= set(dir(halidegym.rewards))
from halidegym import *
from halidegym.envs.rewards import *
print(time_schedule.__name__, Replay.__name__, HardwareTimingReward is rewards.HardwareTimingReward)
for module in (halidegym, rewards):
    try:
        module.Stopwach
    except AttributeError as error:
        print(error)
"""
    assert run_python(script).splitlines() == [
        "time_schedule Replay True",
        "module 'halidegym' has no attribute 'Stopwach'",
        "module 'halidegym.envs.rewards' has no attribute 'Stopwach'",
    ]


def test_modules_of_the_top_level_can_be_imported_from() -> None:
    script = """
from halidegym.pipelines import names
from halidegym.rewards import HardwareTimingReward
from halidegym.wrappers import TextObservation
import halidegym.pipelines, halidegym.envs.pipelines
print(halidegym.pipelines is halidegym.envs.pipelines, TextObservation.__name__)
"""
    assert run_python(script) == "True TextObservation\n"


def test_agents_are_there_without_an_import_of_their_own() -> None:
    script = """
import sys
import halidegym
assert "halidegym.agents" not in sys.modules
print(halidegym.agents.Greedy.__name__, "agents" in dir(halidegym), "sys" in dir(halidegym))
"""
    assert run_python(script) == "Greedy True False\n"


def test_importing_registers_the_environment() -> None:
    script = "import gymnasium, halidegym; print(gymnasium.spec('HalideSchedule-v0').id)"
    assert run_python(script) == "HalideSchedule-v0\n"
    assert "HalideSchedule-v0" in gym.registry


@pytest.mark.parametrize("imports", ["halidegym", "halide, halidegym", "halidegym, halide"])
def test_one_libhalide_is_loaded(imports: str) -> None:
    script = f"""
import {imports}
with open("/proc/self/maps") as maps:
    print(len({{line.split()[-1] for line in maps if "libHalide.so" in line}}))
"""
    assert run_python(script) == "1\n"


def test_errors_can_be_caught_as_what_they_are() -> None:
    bases = {
        halidegym.Error: Exception,
        halidegym.InvalidParameter: ValueError,
        halidegym.FormatError: ValueError,
        halidegym.MissingEstimate: halidegym.UnsupportedPipeline,
    }
    assert all(issubclass(error, base) for error, base in bases.items())
    derived = [halidegym.CompileError, halidegym.InternalError, halidegym.SearchExhausted, *bases]
    assert all(issubclass(error, halidegym.Error) for error in derived)


def run_python(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(("former", "now"), FORMER_PATHS.items())
def test_paths_that_the_documentation_named_still_lead_there(former: str, now: str) -> None:
    with pytest.warns(DeprecationWarning, match=now):
        module = importlib.import_module(former)
    public = [name for name in vars(importlib.import_module(now)) if not name.startswith("_")]
    assert all(getattr(module, name) is getattr(importlib.import_module(now), name) for name in public)
