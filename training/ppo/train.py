"""Proximal policy optimization."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from halidegym.agents.learned.policy_file import PolicyFile
from halidegym.training.adapters.sb3_policy import PointerPolicy
from halidegym.training.episodes.outcomes import Outcomes
from halidegym.training.episodes.training import EpisodeTraining, network_config, silent_logger
from halidegym.training.imitation.imitate import Imitated, device_of
from halidegym.training.networks.network import PolicyNetwork
from halidegym.training.ppo.anchored_policy import AnchoredPolicy
from halidegym.training.ppo.group_buffer import GroupBuffer
from halidegym.training.ppo.settings import PPOSettings

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
    workers: Literal["ray"] | None = None,
    on_step: Callable[[str], None] = lambda _text: None,
    on_begin: Callable[[str, int], None] = lambda _what, _steps: None,
) -> Imitated:
    """Train a policy on episodes of its own, and keep the best one, or that of the last rollout if nothing judges them.

    Args:
        settings: how.
        folder: of the policy, the curve, the logs and the checkpoint that a killed training goes on from.
        workers: where the environments are: on the nodes of a Ray cluster, or None for this process. The policy is the same,
            and learns here.
        on_step: called after each step of the environments.
        on_begin: called before a number of steps, with what they do.

    Raises:
        InvalidParameter: there is no such policy to start from, or a setting does not fit the pipelines; or the folder
            holds a training with other settings; or rewards are run times, and there are workers.
        Error: a pipeline cannot be analysed, or a schedule not be timed; see the environments.
    """
    return _PPO.train(settings, folder, on_step, on_begin, settings.group_size, workers)


class _PPO(EpisodeTraining[PPOSettings]):
    recipe = "ppo"

    def __init__(self, settings: PPOSettings, start: PolicyFile | None, envs: VecEnv, folder: Path) -> None:
        super().__init__(settings, start, envs, folder)
        self._model = MaskablePPO(
            AnchoredPolicy if settings.start_divergence else PointerPolicy,
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
            policy_kwargs={"network": network_config(settings, start)},
            seed=settings.seed,
            device=device_of(settings.device),
        )
        self._model.set_logger(silent_logger())
        assert isinstance(self._model.policy, PointerPolicy)
        self._policy = self._model.policy
        if start is not None:
            self._policy.start_from(start)
        if isinstance(self._policy, AnchoredPolicy):
            self._policy.divergence_weight = settings.start_divergence

    @property
    def _network(self) -> PolicyNetwork:
        return self._policy.network

    def _begin_rollout(self, progress: float) -> None:
        settings, model = self._settings, self._model
        entropy_weight = settings.entropy + (settings.final_entropy - settings.entropy) * progress
        if isinstance(self._policy, AnchoredPolicy):
            model.ent_coef, self._policy.entropy_weight = 1.0, entropy_weight
        else:
            model.ent_coef = entropy_weight
        model.set_env(self._envs)  # which has learn() reset it
        model.set_random_seed(self._seed)

    def _learn(self, outcomes: Outcomes) -> dict[str, float]:
        self._model.learn(self._settings.rollout_size, outcomes, reset_num_timesteps=False)
        recorded = self._model.logger.name_to_value
        losses = {ours: float(recorded[theirs]) for theirs, ours in _LOSSES.items()}
        if isinstance(self._policy, AnchoredPolicy):
            return {**self._policy.pop_means(), **losses}
        return {"train/entropy": -float(recorded["train/entropy_loss"]), **losses}

    def _learner(self) -> dict[str, Any]:
        return {"policy": self._policy.state_dict(), "optimizer": self._policy.optimizer.state_dict()}

    def _go_on(self, state: dict[str, Any]) -> None:
        self._policy.load_state_dict(state["policy"])
        self._policy.optimizer.load_state_dict(state["optimizer"])
        self._model.num_timesteps = self._steps
