"""The Python of the manual is of sound types in a strict project of a user, but for what others leave open."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pages_for_tests import PAGES, blocks, is_signature, name_of, source_of

#: Of pages, which show functions without annotations, and go on with what the reader has from others.
AS_PAGES_ARE = ["--allow-untyped-defs", "--allow-untyped-calls"]
UNKNOWN = ("name-defined", "has-type", "used-before-def", "no-redef", "var-annotated")
AS_PAGES_ARE += [f"--disable-error-code={code}" for code in UNKNOWN]

#: What no types of ours could mend.
OF_OTHERS = (
    r'"(Vector)?Env\[Any, .*" has no attribute',  # Gymnasium's make does not tell what it makes
    r'ndarray.* has no attribute "shape"',  # nor its render
    r'"policy_file" has incompatible type "Tensor \| Module"',  # stable-baselines3's policies hold any module
    r"dict\[str, object\]",  # that mypy makes of texts with numbers and lists
    r'for / \("None" and "float"\)',  # the cost of a plan, which Halide's own autoschedulers may not tell
)

#: What pages say in words.
USER = """
import gymnasium as gym

import halidegym
from halidegym.agents import Agent, BeamSearch, Greedy
from halidegym.envs.sources import load_problem

problem = load_problem("harris", parallelism=4)
plan = BeamSearch().plan(problem)
agents: list[Agent] = [BeamSearch(), Greedy()]
costs = [agent.plan(problem).cost for agent in agents]
env = gym.make("HalideSchedule-v0", pipeline=problem)
halidegym.rewards.CostModelReward(env, baseline=plan)
halidegym.rewards.HardwareTimingReward(env, baseline=plan)
halidegym.wrappers.TextObservation(env).step(0)
print(plan.schedule.python(function="f"))
plan.schedule.apply(problem.pipeline())
"""


def errors(folder: Path, *options: str) -> Sequence[str]:
    """What mypy says of the files of a folder."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "--no-error-summary", *options, "."]
    checked = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert checked.returncode in (0, 1), checked.stderr
    return [line for line in checked.stdout.splitlines() if ": error: " in line]


@pytest.mark.slow
def test_pages_are_of_sound_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    for page in PAGES:
        shown = [each for each in blocks(source_of(page)) if each.language == "python" and not is_signature(each)]
        for block in shown:
            if block.file:
                (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        (tmp_path / (re.sub(r"\W", "_", name_of(page)) + ".py")).write_text(
            "\n".join(block.text for block in shown if not block.file), encoding="utf-8"
        )
    (tmp_path / "mypy.ini").write_text("[mypy]\n[mypy-ray.*]\nfollow_imports = skip\n", encoding="utf-8")
    found = errors(tmp_path, "--ignore-missing-imports", *AS_PAGES_ARE)
    assert [error for error in found if not any(re.search(pattern, error) for pattern in OF_OTHERS)] == []


@pytest.mark.slow
def test_what_pages_say_in_words_is_of_sound_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    assert errors(tmp_path) == []
