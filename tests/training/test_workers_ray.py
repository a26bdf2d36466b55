"""Calls on the nodes of a Ray cluster return what they return here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ray_nodes import RayNodes

# In a process of its own, which Ray's threads and warnings end with.
COMPARISON = """
import pathlib, sys
from halidegym.agents.learned import policies
from halidegym.training.data.collect import DataSettings, collect
from halidegym.training.data.collection import load_split
from halidegym.training.expert.improve import improved_plans
from halidegym.training.expert.settings import ImproverSettings
from halidegym.training.workers import Failed, connected, in_processes
from isolated_functions import square
from trainings_for_tests import EXPERT, FEW

with connected("ray"):
    results = list(in_processes(square, [(number,) for number in range(6)], "ray"))
    assert results == [0, 1, 4, Failed("its process died of SIGABRT"), 16, 25], results
    try:
        list(in_processes(square, [(1,), (-2,), (4,)], "ray"))
    except ValueError as error:
        print(error)

    collected = {}
    for workers in (1, "ray"):
        folder = pathlib.Path(str(workers))
        splits = list(collect(DataSettings.model_validate(FEW), folder, workers=workers))
        taught = load_split(folder, "train")
        collected[workers] = [(one.name, one.space().problem.identity_bytes(), one.plans) for one in taught]
    assert collected[1] == collected["ray"] and len(taught) > 1

    policy = pathlib.Path(policies.__file__).parent / "shipped" / "default.npz"
    settings = ImproverSettings(**EXPERT["improver"])
    here, there = (
        list(improved_plans(taught, policy, settings, seed=1, threads=1, workers=workers)) for workers in (None, "ray")
    )
    assert here == there and len(here) == len(taught)
"""


@pytest.mark.slow
def test_results_are_those_of_this_machine(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    with RayNodes() as nodes:
        for _ in range(2):
            nodes.add(num_cpus=1, env_vars={"PYTHONPATH": path})
        run = subprocess.run(
            [sys.executable, "-c", COMPARISON],
            cwd=tmp_path,
            env=nodes.environment() | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "-2 is negative\n"
