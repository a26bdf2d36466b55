"""An environment that several threads share says so, and never ends the process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# Prints what the calls of all threads came to: how many were refused, how many ended as they should, and anything else.
SCRIPT = """
import collections, json, sys, threading
import gymnasium as gym
import halidegym
from halidegym.native import _core

outcomes = collections.Counter()
env = gym.{make}.unwrapped
env.reset(seed=0)

def attempt(call, *arguments):
    try:
        result = call(*arguments)
    except Exception as error:
        is_ours = type(error) is _core.Error and "Another thread is using this environment" in str(error)
        outcomes["refused" if is_ours else repr(error)] += 1
        return None
    outcomes["done"] += 1
    return result

def play():
    start.wait()
    for action in range(1000):
        result = attempt(env.step, action)
        if result and result[2]:
            while attempt(env.reset) is None:
                pass

def play_together():
    start.wait()
    for action in range(1000):
        attempt(env.step, [action % 7] * 4)

def step_below_python():
    start.wait()
    for action in range(1000):
        if attempt(lambda: env._native.num_legal_decisions) == 0:
            attempt(env._native.start, initial_state)
        attempt(env._native.step, action)
        attempt(env._native.observe)
        attempt(env._native.presented_decisions)
        attempt(lambda: env._native.state)

# Calls take microseconds: without a common start, and with Python's patience, threads might come one after another.
start = threading.Barrier(8)
sys.setswitchinterval(1e-5)
initial_state = env.clone_state().state if hasattr(env, "clone_state") else None
threads = [threading.Thread(target={target}) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(outcomes))
"""


SINGLE = 'make("HalideSchedule-v0", pipeline="harris", parallelism=4)'


@pytest.mark.parametrize(
    ("make", "target"),
    [
        (SINGLE, "play"),
        (SINGLE, "step_below_python"),
        ('make("TransformPlan-v0", n=4096)', "play"),
        ('make_vec("TransformPlan-v0", num_envs=4, n=4096)', "play_together"),
    ],
)
def test_calls_that_overlap_are_refused(make: str, target: str) -> None:
    program = SCRIPT.replace("{make}", make).replace("{target}", target)
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    outcomes = json.loads(child.stdout)
    assert outcomes.pop("done") > 100
    assert outcomes.pop("refused") > 0
    # Between two calls of a thread another may end the episode.
    assert all("The episode is over" in error for error in outcomes)
