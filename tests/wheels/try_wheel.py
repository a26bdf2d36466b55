"""What an installed wheel must do, without anything else from this repository; run by every build of wheels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gymnasium as gym

import halidegym
from halidegym.agents import BeamSearch, PolicyAgent
from halidegym.envs.sources import load_problem


def main() -> None:
    """Take an episode, search, draw from the shipped policy, measure, and ask the command line."""
    env = gym.make("HalideSchedule-v0", pipeline="toy_blur")
    _, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step(info["action_mask"].argmax())
    assert info["cost"] > 0

    problem = load_problem("toy_blur", target="x86-64-linux-avx-avx2-f16c-fma-sse41", parallelism=4)
    plan = BeamSearch(beam_size=32).plan(problem)
    assert abs(plan.cost / 0.00022851809626445174 - 1) < 1e-6, plan.cost  # the optimum
    assert PolicyAgent(samples=4).plan(problem).cost >= plan.cost

    timing = halidegym.time_schedule(problem, plan.schedule)
    assert timing.outcome == "ok", timing

    command = Path(sys.executable).with_name("halidegym")
    listed = subprocess.run([command, "list"], check=True, capture_output=True, text=True)
    assert "harris" in listed.stdout
    version = subprocess.run([command, "--version"], check=True, capture_output=True, text=True)
    assert halidegym.__version__ in version.stdout
    print(f"halidegym {halidegym.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
