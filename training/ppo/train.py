"""PPO, rollout by rollout, through kills and nights."""

from __future__ import annotations

import hashlib
import json
import math
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.agents.learned.policies import load_policy
from halidegym.agents.learned.policy_file import PolicyFile
from halidegym.envs.prepared_problems import RANDOM
from halidegym.envs.registration import HALIDE_SCHEDULE, HALIDE_SCHEDULE_HARDWARE, HALIDE_SCHEDULE_REPLAY
from halidegym.training.adapters.sb3 import ScheduleVecEnv
from halidegym.training.adapters.sb3_policy import PointerPolicy
from halidegym.training.checkpoint import load_checkpoint, save_checkpoint
from halidegym.training.imitation.imitate import Imitated, device_of
from halidegym.training.logs import Logs
from halidegym.training.networks.export import policy_file
from halidegym.training.ppo.group_buffer import GroupBuffer
from halidegym.training.ppo.settings import PPOSettings

# Settings that change nothing of the result.
_OF_THE_RUN = {"device", "threads", "wandb_project"}
_ENVIRONMENTS = {
    "cost": HALIDE_SCHEDULE,
    "measured": HALIDE_SCHEDULE_HARDWARE,
    "replayed": HALIDE_SCHEDULE_REPLAY,
}
# What stable-baselines3 records of an update, and what the curve calls it.
_LOSSES = {
    "train/policy_gradient_loss": "train/policy_loss",
    "train/value_loss": "train/value_loss",
    "train/approx_kl": "train/kl",
    "train/clip_fraction": "train/clip_fraction",
}


def train_ppo(
    settings: PPOSettings,
    folder: Path,
    *,
    on_step: Callable[[str], None] = lambda _text: None,
    on_begin: Callable[[str, int], None] = lambda _what, _steps: None,
) -> Imitated:
    """Train a policy on episodes of its own, and keep that of the last rollout.

    Args:
        settings: how.
        folder: of the policy, the curve, the logs and the checkpoint that a killed training goes on from.
        on_step: called after each step of the environments.
        on_begin: called before a number of steps, with what they do.

    Raises:
        InvalidParameter: there is no such policy to start from, or a setting does not fit the pipelines; or the folder
            holds a training with other settings.
        Error: a pipeline cannot be analysed, or a schedule not be timed; see the environments.
    """
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(settings.num_threads)
    start = None if settings.start is None else load_policy(settings.start)
    envs = ScheduleVecEnv(_environments(settings))
    try:
        return _Training(settings, start, envs, folder).run(on_step, on_begin)
    finally:
        envs.close()


def _environments(settings: PPOSettings) -> gym.vector.VectorEnv[Any, Any, Any]:
    arguments: dict[str, Any] = {
        "autoreset_mode": "SameStep",
        "threads": min(settings.num_threads, settings.num_envs),
        "group_size": settings.group_size,
        "pipeline": RANDOM if settings.is_random else settings.pipelines,
        "pool": settings.pool,
        "target": settings.target,
        "parallelism": settings.parallelism,
        "max_decisions": settings.max_decisions,
        "weights": settings.weights,
    }
    if settings.reward != "cost":
        arguments["database"] = settings.database
    return gym.make_vec(_ENVIRONMENTS[settings.reward], num_envs=settings.num_envs, **arguments)


class _Training:
    def __init__(self, settings: PPOSettings, start: PolicyFile | None, envs: ScheduleVecEnv, folder: Path) -> None:
        self._settings, self._envs, self._folder = settings, envs, folder
        self._checkpoint = folder / "checkpoint.pt"
        self._of_result: dict[str, Any] = settings.model_dump(exclude=_OF_THE_RUN)
        self._started_from: dict[str, Any] | None = None
        if start is not None:
            self._started_from = dict(start.training)
            self._of_result["start_sha256"] = _digest(start)
        self._model = MaskablePPO(
            PointerPolicy,
            envs,
            learning_rate=settings.learning_rate,
            n_steps=settings.rollout_steps,
            batch_size=settings.batch,
            n_epochs=settings.epochs,
            gamma=1.0,  # episodes are short, and all that they earn comes at the end
            gae_lambda=1.0,
            clip_range=settings.clip,
            vf_coef=settings.value_weight,
            max_grad_norm=settings.gradient_norm,
            rollout_buffer_class=GroupBuffer,
            rollout_buffer_kwargs={"group_size": settings.group_size},
            policy_kwargs={"network": start.config if start else NetworkConfig(**settings.network.model_dump())},
            seed=settings.seed,
            device=device_of(settings.device),
        )
        assert isinstance(self._model.policy, PointerPolicy)
        self._policy = self._model.policy
        if start is not None:
            self._policy.start_from(start)
        self._rollout = 0
        self._curve: list[dict[str, float]] = []
        state = load_checkpoint(self._checkpoint, self._of_result)
        if state is not None:
            self._policy.load_state_dict(state["policy"])
            self._policy.optimizer.load_state_dict(state["optimizer"])
            self._rollout, self._curve = state["rollout"], state["curve"]
        self._model.num_timesteps = self._rollout * settings.rollout_size

    def run(self, on_step: Callable[[str], None], on_begin: Callable[[str, int], None]) -> Imitated:
        settings, model = self._settings, self._model
        left = settings.num_rollouts - self._rollout
        on_begin("Learning", left * settings.rollout_steps)
        with Logs(self._folder, self._curve, model.num_timesteps, settings.wandb_project) as logs:
            for _ in range(left):
                start, episodes = time.perf_counter(), _Episodes(on_step)
                self._begin_rollout()
                model.learn(settings.rollout_size, episodes, reset_num_timesteps=False)
                self._rollout += 1
                rate = settings.rollout_size / (time.perf_counter() - start)
                logs.add(model.num_timesteps, {"throughput/steps_per_second": rate})
                logs.add_to_curve(model.num_timesteps, {**episodes.figures(), **self._losses()})
                self._save(logs)
            return Imitated(self._folder / "policy.npz", logs.curve)

    def _begin_rollout(self) -> None:
        """Make all that follows depend on the weights, the seed and the rollout's number alone."""
        settings, model = self._settings, self._model
        progress = self._rollout / max(settings.num_rollouts - 1, 1)
        model.ent_coef = settings.entropy + (settings.final_entropy - settings.entropy) * progress
        model.set_env(self._envs)  # which has learn() reset it
        model.set_random_seed(int(np.random.default_rng([settings.seed, self._rollout]).integers(2**31)))

    def _losses(self) -> dict[str, float]:
        recorded = self._model.logger.name_to_value
        figures = {ours: float(recorded[theirs]) for theirs, ours in _LOSSES.items()}
        return {"train/entropy": -float(recorded["train/entropy_loss"]), **figures}

    def _save(self, logs: Logs) -> None:
        unfinished = self._folder / "policy.unfinished.npz"
        policy_file(self._policy.network, self._story()).save(unfinished)
        os.replace(unfinished, self._folder / "policy.npz")
        state = {
            "policy": self._policy.state_dict(),
            "optimizer": self._policy.optimizer.state_dict(),
            "rollout": self._rollout,
            "curve": logs.curve,
        }
        save_checkpoint(self._checkpoint, self._of_result, state)

    def _story(self) -> dict[str, Any]:
        story = {"recipe": "ppo", "step": self._model.num_timesteps, **self._of_result}
        return story if self._started_from is None else {**story, "started_from": self._started_from}


class _Episodes(BaseCallback):
    """Watches the ends of the episodes of one rollout."""

    def __init__(self, on_step: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = on_step
        self._rewards: list[float] = []
        self._of_greedy: dict[str, list[float]] = {"cost": [], "run_time": []}

    def figures(self) -> dict[str, float]:
        """Means; those of ratios to greedy search's cost or run time are geometric, and without dead ends."""
        figures = {"episodes": float(len(self._rewards))}
        if self._rewards:
            figures |= {"reward/mean": statistics.fmean(self._rewards), "reward/best": max(self._rewards)}
        for name, logs in self._of_greedy.items():
            if logs:
                figures |= {
                    f"{name}/of_greedy": math.exp(statistics.fmean(logs)),
                    f"{name}/best_of_greedy": math.exp(min(logs)),
                }
        return figures

    def _on_step(self) -> bool:
        for index in np.flatnonzero(self.locals["dones"]):
            info = self.locals["infos"][index]
            self._rewards.append(float(self.locals["rewards"][index]))
            for name, key in (("cost", "speedup"), ("run_time", "measured_speedup")):
                if key in info:
                    self._of_greedy[name].append(-math.log(info[key]))
        self._tell(f"Learning, {self.num_timesteps:,} steps")
        return True


def _digest(policy: PolicyFile) -> str:
    digest = hashlib.sha256(json.dumps(dict(policy.training), sort_keys=True).encode())
    for name, array in sorted(policy.arrays.items()):
        digest.update(name.encode() + array.tobytes())
    return digest.hexdigest()
