"""The network as a policy of stable-baselines3, for MaskablePPO of sb3-contrib, PPO and A2C on `HalideSchedule`."""

from __future__ import annotations

from typing import Any, NoReturn, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

try:
    from sb3_contrib.common.maskable.distributions import MaskableDistribution
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"The policy class needs {error.name}, which is not installed: pip install halidegym[train]", name=error.name
    ) from error

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.agents.learned.policy_file import PolicyFile
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import check_given, check_kind, shown
from halidegym.training.divergence import check_finite
from halidegym.training.networks.export import network_from
from halidegym.training.networks.network import PolicyNetwork
from halidegym.training.networks.padded import KEYS, Unpadded, pad, unpad

Masks: TypeAlias = NDArray[np.bool_] | Tensor | None

#: As sb3-contrib masks: logits that leave no probability, and are finite.
ILLEGAL = -1e8


class Unpad(BaseFeaturesExtractor):
    """Observations without their padding."""

    def __init__(self, observation_space: spaces.Dict, loops: int) -> None:
        super().__init__(observation_space, features_dim=1)
        self.loops = loops

    def forward(self, observations: dict[str, Tensor]) -> Unpadded:
        """Problems, states and decisions."""
        return unpad(observations, self.loops)


class PointerPolicy(MaskableActorCriticPolicy):
    """Rates the decisions that an observation describes, whatever the room around them, and values its state.

    Illegal actions, which the observation tells, have no probability even if no masks are given. The value is of
    rewards that are log(reference / cost), as the environment gives by default.

    Args:
        observation_space: of `HalideSchedule`.
        action_space: of `HalideSchedule`.
        lr_schedule: learning rate by the progress that remains.
        network: sizes of the network.
        reads_children: rate decisions by the features of their children, too; the environment must show them
            (`child_features=True`).
        use_sde: what PPO and A2C tell every policy; their exploration of continuous actions, of which there are none.
        **others: as `MaskableActorCriticPolicy` takes them; `net_arch` and the like have no meaning.
    """

    network: PolicyNetwork

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Discrete,
        lr_schedule: Any,
        network: NetworkConfig | None = None,
        *,
        reads_children: bool = False,
        use_sde: bool = False,
        **others: Any,
    ) -> None:
        """See the class.

        Raises:
            InvalidParameter: the observations lack what the network reads, or `network` is no configuration.
        """
        check_keys(observation_space, "PointerPolicy", reads_children)
        check_kind(NetworkConfig, network=network)
        self.network_config = network or NetworkConfig()
        self.reads_children = reads_children
        self._num_actions = int(action_space.n)
        extractor = {
            "features_extractor_class": Unpad,
            "features_extractor_kwargs": {"loops": self.network_config.loops},
        }
        super().__init__(observation_space, action_space, lr_schedule, **{**others, **extractor})

    @property
    def q_net(self) -> NoReturn:
        """What DQN asks a policy for.

        Raises:
            InvalidParameter: always.
        """
        raise InvalidParameter("PointerPolicy draws decisions for MaskablePPO, PPO and A2C; give DQN a PointerQPolicy")

    def start_from(self, file: PolicyFile) -> None:
        """Take over the weights of a policy, as imitation left them, say.

        Raises:
            InvalidParameter: they are of a network with another configuration, or `file` is a name, say.
            FormatError: some are missing, or of other shapes.
        """
        check_config(file, self.network_config)
        self.network.load_state_dict(network_from(file).state_dict())

    def forward(
        self, obs: Any, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions, values and the logarithms of the actions' probabilities."""
        distribution, values = self._rate(obs, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, values, distribution.log_prob(actions)

    def evaluate_actions(
        self, obs: Any, actions: Tensor, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values, the logarithms of the actions' probabilities, and entropies."""
        distribution, values = self._rate(obs, action_masks)
        return values, distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Any, action_masks: Masks = None) -> MaskableDistribution:
        """Of actions."""
        return self._rate(obs, action_masks)[0]

    def predict_values(self, obs: Any) -> Tensor:
        """[B, 1]."""
        return self._rate(obs, None)[1]

    def logits(self, obs: Any) -> Tensor:
        """[B, actions], before any normalization."""
        return self._outputs(obs)[0]

    def _outputs(self, obs: Any) -> tuple[Tensor, Tensor]:
        unpadded: Any = self.extract_features(obs)
        return self._through(self.network, unpadded)

    def _through(self, network: PolicyNetwork, unpadded: Unpadded) -> tuple[Tensor, Tensor]:
        """Logits [B, actions] and values [B, 1]."""
        encoded = network.encode(unpadded.problems)
        context = network.context(encoded, unpadded.states)
        head = network.child_logits if self.reads_children else network.blind_logits
        logits = pad(head(encoded, context, unpadded.decisions), unpadded, self._num_actions, ILLEGAL)
        values = -network.value(context, unpadded.states, unpadded.relative_cost)
        return logits, values.unsqueeze(1)

    def _rate(self, obs: Any, action_masks: Masks) -> tuple[MaskableDistribution, Tensor]:
        logits, values = self._outputs(obs)
        return self._distribution(logits, action_masks), values

    def _distribution(self, logits: Tensor, action_masks: Masks) -> MaskableDistribution:
        check_finite("the logits of the policy are", logits)
        distribution = self.action_dist.proba_distribution(action_logits=logits)
        distribution.apply_masking(action_masks)
        return distribution

    def _build(self, lr_schedule: Any) -> None:
        self.network = PolicyNetwork(self.network_config)
        optimizer_class: Any = self.optimizer_class
        self.optimizer = optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        parameters = super()._get_constructor_parameters()
        for name in ("features_extractor_class", "features_extractor_kwargs"):
            del parameters[name]
        return {**parameters, "network": self.network_config, "reads_children": self.reads_children}


def check_config(file: PolicyFile, config: NetworkConfig) -> None:
    """Refuse a policy to begin with whose network is another one than that to train.

    Raises:
        InvalidParameter: it is, or no policy was read.
    """
    check_given(PolicyFile, file=file)
    if file.config != config:
        raise InvalidParameter(
            f"The policy's network is {file.config}, but this one is {config}; give policy_kwargs=dict(network=file.config)"
        )


def check_keys(space: spaces.Dict, policy: str, reads_children: bool = False) -> None:
    """Refuse observations that a policy of this name cannot read.

    Raises:
        InvalidParameter: the observations lack what its network reads.
    """
    if not isinstance(space, spaces.Dict) or "decision_stage" not in space.spaces:
        raise InvalidParameter(
            f"{policy} reads observations of HalideSchedule-v0; the environment's are {shown(space)}"
        )
    for key in KEYS:
        if key not in space.spaces:
            raise InvalidParameter(f"{policy} reads {key}, which the observations lack: leave out what filters them")
        if len(space[key].shape or ()) != 1:
            raise InvalidParameter(
                f"{policy} reads one row of {key}, which is {shown(space[key])} here: leave out what stacks or reshapes "
                "observations"
            )
    if reads_children and "decision_features" not in space.spaces:
        raise InvalidParameter(
            "reads_children=True: the observations have no decision_features; make the environment with "
            "child_features=True"
        )
