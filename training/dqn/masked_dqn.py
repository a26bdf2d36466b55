"""DQN that takes, and looks ahead to, legal actions alone."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.common.save_util import load_from_pkl
from torch import Tensor
from torch.nn.functional import smooth_l1_loss
from torch.nn.utils import clip_grad_norm_

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import check_given, check_kind, shown
from halidegym.training.adapters.sb3_q_policy import PointerQNetwork, PointerQPolicy
from halidegym.training.divergence import check_finite
from halidegym.training.dqn.buffer import EpisodeBuffer, Shown, Steps


class MaskedDQN(DQN):
    """stable-baselines3's DQN, with masks, double targets and returns over several steps.

    The library steps the environments, updates the target network and optimizes. Random actions are drawn among the legal
    ones, the best one is the best legal one, and so is that which a target looks at: the network chooses it, the target
    network says what it is worth (van Hasselt et al. 2016). Nothing is discounted.

    Args:
        policy: `PointerQPolicy`.
        env: environments of `HalideSchedule` in a `ScheduleVecEnv`.
        n_steps: rewards that a target sums before it looks ahead; None for those of the whole episode.
        **others: as `DQN` takes them.

    Raises:
        InvalidParameter: the policy is another one, or its `network` is no configuration.
    """

    policy: PointerQPolicy
    q_net: PointerQNetwork  # type: ignore[assignment]
    q_net_target: PointerQNetwork  # type: ignore[assignment]
    replay_buffer: EpisodeBuffer  # type: ignore[assignment]

    def __init__(self, policy: type[PointerQPolicy], env: Any, *, n_steps: int | None = None, **others: Any) -> None:
        if not (isinstance(policy, type) and issubclass(policy, PointerQPolicy)):
            raise InvalidParameter(
                f"policy={shown(policy)} does not value legal decisions alone; give PointerQPolicy, or a class that derives "
                "from it"
            )
        super().__init__(
            policy,
            env,
            gamma=1.0,
            replay_buffer_class=EpisodeBuffer,  # type: ignore[arg-type]
            replay_buffer_kwargs={"n_steps": n_steps},
            **others,
        )

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """So many updates, once there are enough steps to draw from.

        Raises:
            InvalidParameter: the training has diverged.
        """
        if self.replay_buffer.size() < batch_size:
            return
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        for _ in range(gradient_steps):
            steps = self.replay_buffer.sample(batch_size)
            targets = self._targets(steps)
            values = _values(self.q_net, steps.now)[steps.taken]
            loss = smooth_l1_loss(values, targets)
            check_finite("the loss is", loss)
            self.policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
            self.logger.record_mean("train/loss", loss.item())
            self.logger.record_mean("train/value", values.mean().item())
        self._n_updates += gradient_steps

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[NDArray[np.int64], Any]:
        """The best legal actions, and if not `deterministic`, random legal ones as often as exploration wants them."""
        actions, state = self.policy.predict(observation, state, episode_start, deterministic=True)
        if deterministic:
            return actions, state
        return self._explored(actions, np.asarray(observation["action_mask"]), self.exploration_rate), state

    def load_replay_buffer(self, path: Any, truncate_last_traj: bool = True) -> None:
        """Take over the episodes that `save_replay_buffer` wrote; those that were not over then are not among them.

        Raises:
            InvalidParameter: the file holds another kind of buffer.
        """
        buffer = load_from_pkl(path, self.verbose)
        check_given(EpisodeBuffer, replay_buffer=buffer)
        buffer.device = self.device
        self.replay_buffer = buffer

    @torch.no_grad()
    def _targets(self, steps: Steps) -> Tensor:
        if steps.later is None:
            return steps.rewards
        offsets = steps.later.offsets
        best = offsets[:-1] + _first_best(_values(self.q_net, steps.later), offsets)
        return steps.rewards.index_add(0, steps.goes_on, _values(self.q_net_target, steps.later)[best])

    def _sample_action(
        self, learning_starts: int, action_noise: Any = None, n_envs: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        assert self.env is not None and isinstance(self._last_obs, dict)
        self.replay_buffer.see([problem.space for problem in self.env.get_attr("prepared_problem")])
        if self.num_timesteps < learning_starts:
            actions = self._explored(np.zeros(n_envs, np.int64), self._last_obs["action_mask"], 1.0)
        else:
            actions, _ = self.predict(self._last_obs)
        return actions, actions

    def _setup_learn(
        self, total_timesteps: int, callback: Any = None, reset_num_timesteps: bool = True, *others: Any
    ) -> Any:
        assert self.env is not None
        skip_forced = self.env.get_attr("skip_forced")[0]
        self.replay_buffer.view = dataclasses.replace(self.replay_buffer.view, skip_forced=skip_forced)
        if reset_num_timesteps or self._last_obs is None:
            self.replay_buffer.abandon()
        return super()._setup_learn(total_timesteps, callback, reset_num_timesteps, *others)

    def _setup_model(self) -> None:
        network = self.policy_kwargs.get("network")
        check_kind(NetworkConfig, network=network)  # as the policy does, which is made later
        self.replay_buffer_kwargs["loops"] = (network or NetworkConfig()).loops
        super()._setup_model()

    @staticmethod
    def _explored(actions: NDArray[np.int64], masks: NDArray[Any], rate: float) -> NDArray[np.int64]:
        """The actions, some replaced by random ones: those that are legal come first."""
        is_random = np.random.random(actions.shape) < rate  # noqa: NPY002, the generator that the library seeds
        return np.where(is_random, np.random.randint(masks.sum(-1)), actions)  # noqa: NPY002


def _values(network: PointerQNetwork, shown: Shown) -> Tensor:
    return network.of_decisions(shown.problems, shown.states, shown.decisions)


def _first_best(values: Tensor, offsets: Tensor) -> Tensor:
    """The index of the greatest value of each part; parts begin at the offsets, and none is empty."""
    parts = torch.split(values, offsets.diff().tolist())
    return torch.nn.utils.rnn.pad_sequence(list(parts), batch_first=True, padding_value=-torch.inf).argmax(1)
