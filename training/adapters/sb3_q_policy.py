"""The network as a policy of stable-baselines3's DQN: what its blind head says of a decision is that decision's value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from gymnasium import spaces
from torch import Tensor

try:
    from stable_baselines3.common.policies import BasePolicy
    from stable_baselines3.dqn.policies import DQNPolicy
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "The policy class needs stable-baselines3, which is not installed: pip install halidegym[train]",
        name=error.name,
    ) from error

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.agents.learned.policy_file import PolicyFile
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import check_kind
from halidegym.training.adapters.sb3_policy import ILLEGAL, check_config, check_keys
from halidegym.training.networks.batches import Decisions, Problems, States
from halidegym.training.networks.export import network_from
from halidegym.training.networks.network import PolicyNetwork
from halidegym.training.networks.padded import pad, unpad


class PointerQNetwork(BasePolicy):
    """Values of all actions that an observation shows; those of illegal ones are below all others."""

    def __init__(self, observation_space: spaces.Dict, action_space: spaces.Discrete, network: NetworkConfig) -> None:
        super().__init__(observation_space, action_space)
        self.network = PolicyNetwork(network)
        self._num_actions = int(action_space.n)

    def forward(self, obs: Mapping[str, Tensor]) -> Tensor:
        """[B, actions]."""
        unpadded = unpad(obs, self.network.config.loops)
        values = self.of_decisions(unpadded.problems, unpadded.states, unpadded.decisions)
        return pad(values, unpadded, self._num_actions, ILLEGAL)

    def of_decisions(self, problems: Problems, states: States, decisions: Decisions) -> Tensor:
        """[D], of the decisions of a batch without padding."""
        encoded = self.network.encode(problems)
        return self.network.blind_logits(encoded, self.network.context(encoded, states), decisions)

    def _predict(self, observation: Any, deterministic: bool = True) -> Tensor:
        values: Tensor = self(observation)
        return values.argmax(1)


class PointerQPolicy(DQNPolicy):
    """Rates the decisions that an observation describes, whatever the room around them.

    Illegal actions, which the observation tells, are never the best.

    Args:
        observation_space: of `HalideSchedule`.
        action_space: of `HalideSchedule`.
        lr_schedule: learning rate by the progress that remains.
        network: sizes of the network.
        **others: as `DQNPolicy` takes them.
    """

    q_net: PointerQNetwork  # type: ignore[assignment]  # it does what is asked of a QNetwork
    q_net_target: PointerQNetwork  # type: ignore[assignment]

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Discrete,
        lr_schedule: Any,
        network: NetworkConfig | None = None,
        **others: Any,
    ) -> None:
        """See the class.

        Raises:
            InvalidParameter: the observations lack what the network reads, it is made by another algorithm than DQN, or
                `network` is no configuration.
        """
        if "use_sde" in others:
            raise InvalidParameter("PointerQPolicy rates decisions for DQN; give PPO and A2C a PointerPolicy")
        check_keys(observation_space, "PointerQPolicy")
        check_kind(NetworkConfig, network=network)
        self.network_config = network or NetworkConfig()
        super().__init__(observation_space, action_space, lr_schedule, **others)

    def start_from(self, file: PolicyFile, temperature: float) -> None:
        """Take over the weights of a policy, as imitation left them, say.

        Its logits become values: a policy that is softmax(value / temperature) has these, up to what all decisions of a
        state have in common, which is left to be learned.

        Raises:
            InvalidParameter: they are of a network with another configuration.
            FormatError: some are missing, or of other shapes.
        """
        check_config(file, self.network_config)
        network = network_from(file)
        with torch.no_grad():
            for parameter in network.blind.logit.parameters():
                parameter.mul_(temperature)
        for q_net in (self.q_net, self.q_net_target):
            q_net.network.load_state_dict(network.state_dict())

    def make_q_net(self) -> PointerQNetwork:  # type: ignore[override]
        """A network with random weights."""
        assert isinstance(self.observation_space, spaces.Dict)
        assert isinstance(self.action_space, spaces.Discrete)
        return PointerQNetwork(self.observation_space, self.action_space, self.network_config).to(self.device)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "network": self.network_config}
