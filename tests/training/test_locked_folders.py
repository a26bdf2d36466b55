"""Two trainings do not write into one folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from halidegym.agents.learned.policies import path_of
from halidegym.envs.processes.folder_lock import FolderLock
from halidegym.native._core import InvalidParameter
from halidegym.training.aggrevate.aggregate import aggregate
from halidegym.training.aggrevate.settings import AggrevateSettings
from halidegym.training.cost_model.settings import CostModelSettings
from halidegym.training.cost_model.train import train_cost_model
from halidegym.training.data.collection import load_split
from halidegym.training.dqn.settings import DQNSettings
from halidegym.training.dqn.train import train_dqn
from halidegym.training.expert.iterate import iterate
from halidegym.training.expert.settings import ExpertSettings
from halidegym.training.imitation.imitate import imitate
from halidegym.training.imitation.settings import ImitationSettings
from halidegym.training.ppo.settings import PPOSettings
from halidegym.training.ppo.train import train_ppo
from measured_for_tests import pipelines
from trainings_for_tests import AGGREVATE, COST_MODEL, DQN, EXPERT, IMITATE, PPO, collect_few


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    collect_few(folder)
    return folder


@pytest.mark.parametrize("recipe", ["data", "imitate", "expert", "aggrevate", "ppo", "dqn", "cost-model"])
def test_trainings_refuse_the_folder_of_another_one(recipe: str, data: Path, tmp_path: Path) -> None:
    plans, policy = (load_split(data, "train"), load_split(data, "validation")), path_of("default")
    measured = pipelines(0, 2), pipelines(100, 2)
    recipes: dict[str, Callable[[], object]] = {
        "data": lambda: collect_few(tmp_path),
        "imitate": lambda: imitate(ImitationSettings.model_validate(IMITATE), *plans, tmp_path),
        "expert": lambda: iterate(ExpertSettings.model_validate(EXPERT), policy, *plans, tmp_path),
        "aggrevate": lambda: aggregate(AggrevateSettings.model_validate(AGGREVATE), policy, *plans, tmp_path),
        "ppo": lambda: train_ppo(PPOSettings.model_validate(PPO), tmp_path),
        "dqn": lambda: train_dqn(DQNSettings.model_validate(DQN), tmp_path),
        "cost-model": lambda: train_cost_model(CostModelSettings.model_validate(COST_MODEL), *measured, tmp_path),
    }
    with FolderLock(tmp_path), pytest.raises(InvalidParameter, match="Another process is writing into"):
        recipes[recipe]()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
