"""Deep Q-learning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from stable_baselines3.common.vec_env import VecEnv

from halidegym.agents.learned.policy_file import PolicyFile
from halidegym.training.adapters.sb3_q_policy import PointerQPolicy
from halidegym.training.dqn.masked_dqn import MaskedDQN
from halidegym.training.dqn.settings import DQNSettings
from halidegym.training.episodes.outcomes import Outcomes
from halidegym.training.episodes.training import EpisodeTraining, network_config, silent_logger
from halidegym.training.imitation.imitate import Imitated, device_of
from halidegym.training.networks.network import PolicyNetwork


def train_dqn(
    settings: DQNSettings,
    folder: Path,
    *,
    on_step: Callable[[str], None] = lambda _text: None,
    on_begin: Callable[[str, int], None] = lambda _what, _steps: None,
) -> Imitated:
    """Train a policy on episodes of its own, and keep the best one, or that of the last rollout if nothing judges them.

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
    return _DQN.train(settings, folder, on_step, on_begin)


class _DQN(EpisodeTraining[DQNSettings]):
    recipe = "dqn"

    def __init__(self, settings: DQNSettings, start: PolicyFile | None, envs: VecEnv, folder: Path) -> None:
        super().__init__(settings, start, envs, folder)
        self._model = MaskedDQN(
            PointerQPolicy,
            envs,
            learning_rate=settings.learning_rate,
            buffer_size=settings.buffer,
            learning_starts=settings.warm_up,
            batch_size=settings.batch,
            train_freq=1,
            gradient_steps=settings.updates,
            n_steps=settings.n_steps,
            target_update_interval=settings.target_steps,
            max_grad_norm=settings.gradient_norm,
            policy_kwargs={"network": network_config(settings, start)},
            seed=settings.seed,
            device=device_of(settings.device),
        )
        self._model.set_logger(silent_logger())
        self._policy = self._model.policy
        if start is not None:
            assert settings.start_temperature is not None
            self._policy.start_from(start, settings.start_temperature)

    @property
    def _network(self) -> PolicyNetwork:
        return self._policy.q_net.network

    def _begin_rollout(self, progress: float) -> None:
        settings, model = self._settings, self._model
        share = min(progress / settings.exploration, 1.0)
        epsilon = settings.epsilon + (settings.final_epsilon - settings.epsilon) * share
        model.exploration_schedule = lambda _progress: epsilon
        model.exploration_rate = epsilon
        model.set_env(self._envs)  # which has learn() reset it
        model.set_random_seed(self._seed)

    def _learn(self, outcomes: Outcomes) -> dict[str, float]:
        model = self._model
        model.learn(
            self._settings.rollout_size,
            outcomes,
            log_interval=None,  # type: ignore[arg-type]
            reset_num_timesteps=False,
        )
        recorded = model.logger.name_to_value
        losses: dict[str, float] = {
            name: float(recorded[name]) for name in ("train/loss", "train/value") if name in recorded
        }
        model.logger.dump()  # which begins new means
        return {
            "train/epsilon": model.exploration_rate,
            "train/kept_steps": float(model.replay_buffer.size()),
            **losses,
        }

    def _learner(self) -> dict[str, Any]:
        return {
            "policy": self._policy.state_dict(),
            "optimizer": self._policy.optimizer.state_dict(),
            "calls": self._model._n_calls,
            "episodes": self._model.replay_buffer.state(),
        }

    def _go_on(self, state: dict[str, Any]) -> None:
        self._policy.load_state_dict(state["policy"])
        self._policy.optimizer.load_state_dict(state["optimizer"])
        self._model._n_calls = state["calls"]
        self._model.replay_buffer.go_on(state["episodes"])
        self._model.num_timesteps = self._steps
