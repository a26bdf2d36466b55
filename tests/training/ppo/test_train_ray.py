"""PPO whose environments are on the nodes of a Ray cluster, whoever dies."""

from __future__ import annotations

from pathlib import Path

import pytest

from halidegym.native._core import InvalidParameter
from halidegym.training.ppo.settings import PPOSettings
from halidegym.training.ppo.train import train_ppo
from ray_nodes import RayNodes
from trainings_for_tests import PPO

SETTINGS = PPOSettings.model_validate(
    {**PPO, "pipelines": ["toy_blur", "toy_stencils"], "num_envs": 6, "group_size": 2, "steps": 288}
)

# In a process of its own, which Ray's threads and warnings end with.
TRAININGS = """
import sys
from pathlib import Path
from halidegym.training.ppo.settings import PPOSettings
from halidegym.training.ppo.train import train_ppo

settings, folder = PPOSettings.model_validate_json(sys.argv[1]), Path(sys.argv[2])
steps = 0

def on_step(_text):
    global steps
    steps += 1
    if steps in (5, 20):  # in the first rollout and in the second one
        print("kill", flush=True)
        input()

train_ppo(settings, folder / "here")
train_ppo(settings, folder / "there", workers="ray", on_step=on_step)
print(steps)
"""


@pytest.mark.slow
def test_the_curve_is_that_of_one_process(tmp_path: Path) -> None:
    with RayNodes() as nodes:
        for _ in range(2):
            nodes.add(num_cpus=1)
        told = nodes.follow(TRAININGS, SETTINGS.model_dump_json(exclude_unset=True), str(tmp_path))
    assert told == [str(3 * SETTINGS.rollout_steps)]
    for name in ("curve.csv", "policy.npz"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


def test_run_times_stay_on_one_machine(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="it comes with the extra ray")
    measured = PPOSettings.model_validate({**PPO, "reward": "measured", "database": str(tmp_path / "times.db")})
    with pytest.raises(InvalidParameter, match="run times are of one machine"):
        train_ppo(measured, tmp_path, workers="ray")
