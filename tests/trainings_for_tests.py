"""Plans and settings so small that training takes seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from halidegym.training.data.collect import DataSettings, collect

ROLLOUTS = {"problems": 2, "samples": 2, "shortlist": 2}
OPTIMIZER = {
    "learning_rate": 0.002, "final_learning_rate": 0.00004, "weight_decay": 0.001, "gradient_norm": 1.0,
    "blind_weight": 1.0, "child_weight": 1.0, "value_weight": 0.3,
}  # fmt: skip
IMITATE: dict[str, Any] = {
    "seed": 0, "candidates": 16, "epochs": 3, "batch": 8, "group": 2, "checkpoint_steps": 3, "rollout_epochs": 1,
    "threads": 1, "network": {"width": 16, "rounds": 1}, "optimizer": OPTIMIZER, "rollouts": ROLLOUTS,
}  # fmt: skip
EXPERT: dict[str, Any] = {
    "seed": 0, "rounds": 3, "patience": 3, "pipelines": 3, "rehearsed": 1, "candidates": 16, "epochs": 1,
    "batch": 8, "group": 2, "within": 0.05, "weight": 0.3, "threads": 1, "optimizer": OPTIMIZER, "rollouts": ROLLOUTS,
    "improver": {"evaluations": 60, "free_schedules": 8, "shortlist": 2},
}  # fmt: skip
AGGREVATE: dict[str, Any] = {
    "seed": 0, "rounds": 2, "pipelines": 2, "epochs": 2, "batch": 8, "group": 2, "threads": 1, "optimizer": OPTIMIZER,
    "rollouts": ROLLOUTS, "temperature": 0.1, "labels": {
        "schedules": 2, "blind": 2, "child": 2, "cheapest": 1, "random": 1, "shortlist": 2, "draws": 1,
    },
}  # fmt: skip
PPO: dict[str, Any] = {
    "seed": 0, "pipelines": ["toy_blur"], "target": "x86-64-linux-avx-avx2-f16c-fma-sse41", "parallelism": 16,
    "max_decisions": 64, "num_envs": 2, "rollout_steps": 16, "steps": 96, "epochs": 1, "batch": 16,
    "learning_rate": 0.001, "clip": 0.2, "entropy": 0.01, "final_entropy": 0.001, "value_weight": 0.5,
    "gradient_norm": 0.5, "threads": 1, "network": {"width": 16, "rounds": 1},
}  # fmt: skip
DQN: dict[str, Any] = {
    **{key: PPO[key] for key in ("seed", "pipelines", "target", "parallelism", "max_decisions", "threads", "network")},
    "num_envs": 2, "rollout_steps": 16, "steps": 96, "buffer": 60, "warm_up": 8, "batch": 8, "updates": 1,
    "n_steps": 2, "target_steps": 8, "learning_rate": 0.001, "gradient_norm": 1.0, "epsilon": 0.5,
    "final_epsilon": 0.1, "exploration": 0.5, "judging": {"samples": 2, "temperature": 0.1, "every": 2},
}  # fmt: skip
COST_MODEL: dict[str, Any] = {
    "seed": 0, "start": "shipped", "loss": "log_time", "epochs": 6, "patience": 6, "groups": 4, "learning_rate": 0.003,
    "final_learning_rate": 0.0001, "members": 1, "threads": 1, "device": "cpu",
}  # fmt: skip


FEW: dict[str, Any] = {
    "pipelines": {"random-validation-v1": 5, "random-train-v1": 6},
    "target": "x86-64-linux-avx-avx2-f16c-fma-sse41", "parallelism": 16, "per_shard": 10,
    "teacher": {
        "beam_size": 1, "beam_evaluations": 100, "tree_evaluations": 50, "greedy_evaluations": 800,
        "within": 0.05, "plans": 2, "weight": 0.3, "seed": 0,
    },
}  # fmt: skip


def collect_few(folder: Path, **teacher: object) -> None:
    """Plans of a hasty teacher."""
    settings = {**FEW, "teacher": {**FEW["teacher"], **teacher}}
    list(collect(DataSettings.model_validate(settings), folder, workers=1))


def interrupt_after(train: Callable[..., object], steps: int, settings: object, folder: Path) -> None:
    """Train, and be interrupted at the end of so many steps."""

    def on_step(_text: str) -> None:
        nonlocal steps
        steps -= 1
        if steps == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(settings, folder, on_step=on_step)


def toys(num_envs: int = 2, **arguments: Any) -> Any:
    """Environments of two toys as stable-baselines3 takes them; their room is too small for some states' decisions."""
    import gymnasium as gym

    from halidegym.training.adapters.sb3 import ScheduleVecEnv

    envs = gym.make_vec(
        "HalideSchedule-v0", num_envs=num_envs, pipeline=["toy_stencils", "toy_blur"], autoreset_mode="SameStep",
        target=PPO["target"], parallelism=16, max_decisions=24, **arguments,
    )  # fmt: skip
    return ScheduleVecEnv(envs)
